// Authenticates the frames of a write-ahead log on a second core while they are being written, as they are in the file.

#if __linux__
#define _GNU_SOURCE 1
#endif

#include "log_format.h"
#include "strongroom_crypto.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { most_bytes = 128 << 10 };

struct strongroom_verifier {
    const strongroom_page_format *format;
    int file;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t news;
    int64_t *offsets;       // of pages written and not yet looked at
    size_t count, capacity;
    bool finished, ended;
    uint8_t *verified;      // by frame; the thread's until it has ended
    int64_t frames;
    int64_t written;        // up to where the system was told to write; the thread's
};

static size_t frame_size(const strongroom_verifier *self) { return (size_t)(frame_header + self->format->page_size); }

static int64_t frame_index(const strongroom_verifier *self, int64_t offset) {
    return (offset - log_header - frame_header) / (frame_header + self->format->page_size);
}

static void set_verified(strongroom_verifier *self, int64_t index, bool verdict) {
    if (index >= self->frames) {
        int64_t frames = index * 2 + 1024;
        uint8_t *grown = realloc(self->verified, (size_t)frames);
        // Without memory the frame is looked at again later.
        if (!grown) return;
        memset(grown + self->frames, 0, (size_t)(frames - self->frames));
        self->verified = grown;
        self->frames = frames;
    }
    self->verified[index] = verdict;
}

/// Frames that follow each other are read at one go.
static void look_at(strongroom_verifier *self, const int64_t *offsets, size_t count, uint8_t *frames) {
    size_t size = frame_size(self);
    if (offsets[0] < log_header + frame_header || pread(self->file, frames, count * size, offsets[0] - frame_header) != (ssize_t)(count * size)) return;
    for (size_t i = 0; i < count; i++) {
        const uint8_t *frame = frames + i * size;
        set_verified(self, frame_index(self, offsets[i]), strongroom_page_is_authentic(self->format, frame + frame_header, frame_page(frame)));
    }
}

static size_t run_length(const strongroom_verifier *self, const int64_t *offsets, size_t count) {
    size_t size = frame_size(self), run = 1;
    while (run < count && (run + 1) * size <= most_bytes && offsets[run] == offsets[0] + (int64_t)(run * size)) run++;
    return run;
}

/// Has the system write what was looked at, so that less is left for the sync of the commit to wait for. Only a hint: that sync decides.
static void begin_writing(strongroom_verifier *self, int64_t offset) {
#if __linux__
    enum { enough = 4 << 20 };
    if (offset - self->written < enough) return;
    (void)sync_file_range(self->file, self->written, offset - self->written, SYNC_FILE_RANGE_WRITE);
    self->written = offset;
#else
    (void)self; (void)offset;
#endif
}

static void *verify(void *argument) {
    strongroom_verifier *self = argument;
    uint8_t *frames = malloc(most_bytes);
    int64_t *batch = NULL;
    size_t capacity = 0;
    for (;;) {
        pthread_mutex_lock(&self->lock);
        while (self->count == 0 && !self->finished) pthread_cond_wait(&self->news, &self->lock);
        // Takes the whole list, and leaves its own, empty.
        int64_t *list = self->offsets; size_t count = self->count, held = self->capacity;
        self->offsets = batch; self->capacity = capacity; self->count = 0;
        batch = list; capacity = held;
        pthread_mutex_unlock(&self->lock);
        if (count == 0 || !frames) break;
        for (size_t i = 0, run; i < count; i += run) {
            run = run_length(self, batch + i, count - i);
            look_at(self, batch + i, run, frames);
            begin_writing(self, batch[i]);
        }
    }
    free(batch);
    free(frames);
    return NULL;
}

strongroom_verifier *strongroom_verifier_start(const char *log_path, const strongroom_page_format *format) {
    strongroom_verifier *self = calloc(1, sizeof *self);
    if (!self) return NULL;
    self->format = format;
    // No lock of SQLite's is on the log, so that closing it drops none.
    self->file = open(log_path, O_RDONLY | O_CLOEXEC);
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->news, NULL);
    if (self->file < 0 || pthread_create(&self->thread, NULL, verify, self) != 0) {
        if (self->file >= 0) close(self->file);
        pthread_mutex_destroy(&self->lock);
        pthread_cond_destroy(&self->news);
        free(self);
        return NULL;
    }
    return self;
}

void strongroom_verifier_add(strongroom_verifier *self, const int64_t *offsets, size_t count) {
    pthread_mutex_lock(&self->lock);
    if (self->count + count > self->capacity) {
        size_t capacity = (self->count + count) * 2 + 256;
        int64_t *grown = realloc(self->offsets, capacity * sizeof *grown);
        if (grown) { self->offsets = grown; self->capacity = capacity; }
    }
    bool was_empty = self->count == 0;
    // Without memory they are looked at later.
    if (self->count + count <= self->capacity) {
        memcpy(self->offsets + self->count, offsets, count * sizeof *offsets);
        self->count += count;
    }
    // The thread waits for an empty list only.
    if (was_empty) pthread_cond_signal(&self->news);
    pthread_mutex_unlock(&self->lock);
}

void strongroom_verifier_finish(strongroom_verifier *self) {
    pthread_mutex_lock(&self->lock);
    self->finished = true;
    pthread_cond_signal(&self->news);
    pthread_mutex_unlock(&self->lock);
    pthread_join(self->thread, NULL);
    self->ended = true;
}

bool strongroom_verifier_has(const strongroom_verifier *self, int64_t offset) {
    int64_t index = frame_index(self, offset);
    return index >= 0 && index < self->frames && self->verified[index];
}

void strongroom_verifier_free(strongroom_verifier *self) {
    if (!self) return;
    if (!self->ended) strongroom_verifier_finish(self);
    close(self->file);
    pthread_mutex_destroy(&self->lock);
    pthread_cond_destroy(&self->news);
    free(self->offsets);
    free(self->verified);
    free(self);
}
