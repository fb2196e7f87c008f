#define SQLITE_HAS_CODEC 1
#include <sqlcipher/sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include "cwork.h"
#include "cwork_check.h"

// Rows that are kept: numbers as they are, texts and blobs copied, nothing parsed.

typedef struct {
    void *elements;
    size_t size, count, capacity;
} array;

/// Room for one element more.
static void *append(array *array) {
    if (array->count == array->capacity) {
        array->capacity = array->capacity == 0 ? 8 : 2 * array->capacity;
        array->elements = realloc(array->elements, array->capacity * array->size);
    }
    return (char *)array->elements + array->size * array->count++;
}

typedef struct {
    int64_t i0, i1, i2, i3, i4, i5, i6, i7, i8, i9;
} wide;

int64_t cwork_rows_in_array(sqlite3 *db, const char *select, int64_t count) {
    sqlite3_stmt *statement = cwork_prepare(db, select);
    cwork_bind(db, statement, 1, count);
    array rows = {.size = sizeof(wide)};
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        wide row = {
            .i0 = sqlite3_column_int64(statement, 0),
            .i1 = sqlite3_column_int64(statement, 1),
            .i2 = sqlite3_column_int64(statement, 2),
            .i3 = sqlite3_column_int64(statement, 3),
            .i4 = sqlite3_column_int64(statement, 4),
            .i5 = sqlite3_column_int64(statement, 5),
            .i6 = sqlite3_column_int64(statement, 6),
            .i7 = sqlite3_column_int64(statement, 7),
            .i8 = sqlite3_column_int64(statement, 8),
            .i9 = sqlite3_column_int64(statement, 9),
        };
        *(wide *)append(&rows) = row;
    }
    cwork_check(db, code, SQLITE_DONE);
    sqlite3_finalize(statement);
    int64_t sum = 0;
    const wide *all = rows.elements;
    for (size_t index = 0; index < rows.count; index++) {
        const wide *row = &all[index];
        sum += row->i0 + row->i1 + row->i2 + row->i3 + row->i4 + row->i5 + row->i6 + row->i7 + row->i8 + row->i9;
    }
    free(rows.elements);
    return sum;
}

typedef struct {
    char *bytes;
    int size;
} copy;

typedef struct {
    int64_t identifier;
    copy title, body, created, comment, uuid, kind, attributes;
    double rating;
    int is_favorite;
} mixed;

static copy copy_of(sqlite3_stmt *statement, int column) {
    const void *bytes = sqlite3_column_blob(statement, column);
    int size = sqlite3_column_bytes(statement, column);
    copy copy = {.bytes = malloc((size_t)size + 1), .size = size};
    if (size > 0) memcpy(copy.bytes, bytes, (size_t)size);
    copy.bytes[size] = 0;
    return copy;
}

static void release(mixed *row) {
    free(row->title.bytes), free(row->body.bytes), free(row->created.bytes), free(row->comment.bytes);
    free(row->uuid.bytes), free(row->kind.bytes), free(row->attributes.bytes);
}

static mixed mixed_row(sqlite3_stmt *statement) {
    return (mixed){
        .identifier = sqlite3_column_int64(statement, 0),
        .title = copy_of(statement, 1),
        .body = copy_of(statement, 2),
        .created = copy_of(statement, 3),
        .rating = sqlite3_column_double(statement, 4),
        .is_favorite = sqlite3_column_int(statement, 5),
        .comment = copy_of(statement, 6),
        .uuid = copy_of(statement, 7),
        .kind = copy_of(statement, 8),
        .attributes = copy_of(statement, 9),
    };
}

int64_t cwork_mixed_in_array(sqlite3 *db, const char *select, int64_t count) {
    sqlite3_stmt *statement = cwork_prepare(db, select);
    cwork_bind(db, statement, 1, count);
    array rows = {.size = sizeof(mixed)};
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        mixed row = mixed_row(statement);
        *(mixed *)append(&rows) = row;
    }
    cwork_check(db, code, SQLITE_DONE);
    sqlite3_finalize(statement);
    int64_t sum = 0;
    mixed *all = rows.elements;
    for (size_t index = 0; index < rows.count; index++) {
        sum += all[index].identifier + all[index].title.size + all[index].body.size + all[index].is_favorite;
        release(&all[index]);
    }
    free(rows.elements);
    return sum;
}
