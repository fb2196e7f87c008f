// A thread that lets another connection have its turn in front of one of its locks.

#include "turns.h"
#include "CStrongroomFaults.h"
#include <stddef.h>

static _Thread_local int64_t count, turn = -1;
static _Thread_local void (*take)(void *context);
static _Thread_local void *context;
static _Thread_local bool is_taken;

void strongroom_faults_turn(void) {
    if (take == NULL || is_taken || count++ != turn) return;
    is_taken = true;
    take(context);
    is_taken = false;
}

bool strongroom_faults_has_turn(void) { return is_taken; }

void strongroom_turns_begin(int64_t after, void (*act)(void *context), void *argument) {
    count = 0;
    turn = after;
    context = argument;
    take = act;
}

int64_t strongroom_turns_end(void) {
    take = NULL;
    return count;
}
