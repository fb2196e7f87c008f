// libedit's functions take variable arguments, which Swift can't pass.

#include "strongroom_line.h"

#include <errno.h>
#include <histedit.h>
#include <locale.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

enum { HISTORY_SIZE = 1000 };

struct strongroom_line {
    EditLine *editor;
    History *history;
    const char *prompt;
    int wake;
    bool was_woken;
};

static char *prompt_of(EditLine *editor) {
    strongroom_line *line = NULL;
    el_get(editor, EL_CLIENTDATA, &line);
    return (char *)line->prompt;
}

/// Waits for a byte. Zero at the end of the input, -1 when `wake` is readable.
static int read_byte(strongroom_line *line, char *byte) {
    for (;;) {
        struct pollfd watched[2] = {{STDIN_FILENO, POLLIN, 0}, {line->wake, POLLIN, 0}};
        if (poll(watched, 2, -1) < 0) {
            if (errno == EINTR) continue;
            return -1;
        }
        if (watched[1].revents != 0) {
            line->was_woken = true;
            return -1;
        }
        if (watched[0].revents == 0) continue;
        ssize_t count = read(STDIN_FILENO, byte, 1);
        if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        return count > 0 ? 1 : 0;
    }
}

static int read_character(EditLine *editor, wchar_t *character) {
    strongroom_line *line = NULL;
    el_get(editor, EL_CLIENTDATA, &line);
    mbstate_t state;
    memset(&state, 0, sizeof state);
    for (;;) {
        char byte;
        int outcome = read_byte(line, &byte);
        if (outcome <= 0) return outcome;
        size_t size = mbrtowc(character, &byte, 1, &state);
        if (size == (size_t)-2) continue;
        // What is no character is passed over.
        if (size == (size_t)-1) memset(&state, 0, sizeof state);
        else return 1;
    }
}

strongroom_line *strongroom_line_open(const char *program, int wake) {
    // Text is UTF-8 in every locale.
    if (setlocale(LC_CTYPE, "") == NULL || MB_CUR_MAX == 1) setlocale(LC_CTYPE, "C.UTF-8");
    strongroom_line *line = calloc(1, sizeof *line);
    if (line == NULL) return NULL;
    line->prompt = "";
    line->wake = wake;
    line->editor = el_init(program, stdin, stderr, stderr);
    line->history = history_init();
    if (line->editor == NULL || line->history == NULL) {
        strongroom_line_close(line);
        return NULL;
    }
    HistEvent event;
    history(line->history, &event, H_SETSIZE, HISTORY_SIZE);
    history(line->history, &event, H_SETUNIQUE, 1);
    el_set(line->editor, EL_CLIENTDATA, line);
    el_set(line->editor, EL_PROMPT, prompt_of);
    el_set(line->editor, EL_SIGNAL, 0);
    el_set(line->editor, EL_EDITOR, "emacs");
    el_set(line->editor, EL_HIST, history, line->history);
    el_set(line->editor, EL_BIND, "^R", "em-inc-search-prev", NULL);
    el_set(line->editor, EL_GETCFN, read_character);
    // The bindings of the user, in ~/.editrc.
    el_source(line->editor, NULL);
    return line;
}

const char *strongroom_line_read(strongroom_line *line, const char *prompt) {
    int count = 0;
    line->prompt = prompt;
    line->was_woken = false;
    el_resize(line->editor);
    const char *text = el_gets(line->editor, &count);
    line->prompt = "";
    return text != NULL && count > 0 && !line->was_woken ? text : NULL;
}

bool strongroom_line_was_woken(const strongroom_line *line) { return line->was_woken; }

void strongroom_line_remember(strongroom_line *line, const char *entry) {
    HistEvent event;
    history(line->history, &event, H_ENTER, entry);
}

void strongroom_line_close(strongroom_line *line) {
    if (line == NULL) return;
    if (line->editor != NULL) el_end(line->editor);
    if (line->history != NULL) history_end(line->history);
    free(line);
}
