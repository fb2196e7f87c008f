#include "strongroom_threads.h"

// The object that is notifying this thread's observers of a change.
static _Thread_local const void *notifier;

const void *strongroom_notifier(void) {
    return notifier;
}

const void *strongroom_set_notifier(const void *newer) {
    const void *former = notifier;
    notifier = newer;
    return former;
}

// The object that holds what SQLite releases on this thread.
static _Thread_local void *releases;

void *strongroom_deferred_releases(void) {
    return releases;
}

void strongroom_set_deferred_releases(void *newer) {
    releases = newer;
}

// The connections that this thread has access to, innermost first.
static _Thread_local strongroom_connection *innermost;

void strongroom_connection_push(strongroom_connection *connection) {
    connection->outer = innermost;
    innermost = connection;
}

void strongroom_connection_pop(strongroom_connection *connection) {
    innermost = connection->outer;
    connection->outer = NULL;
}

bool strongroom_is_inside(const strongroom_connection *connection) {
    const strongroom_connection *outer = innermost;
    while (outer != NULL && outer != connection) outer = outer->outer;
    return outer != NULL;
}

int strongroom_nested_setups(void) {
    int count = 0;
    for (const strongroom_connection *outer = innermost; outer != NULL; outer = outer->outer)
        if (!outer->is_set_up) count++;
    return count;
}

strongroom_connection *strongroom_innermost_in_group(uintptr_t group) {
    strongroom_connection *connection = innermost;
    while (connection != NULL && connection->group != group) connection = connection->outer;
    return connection;
}
