// HTTP requests by libcurl.

#include "replica_transfer.h"

#include <curl/curl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct replica_transfer {
    CURL *curl;
    char *authorities;
    int timeout;
    uint8_t *answer;
    size_t size, capacity;
    char error[CURL_ERROR_SIZE];
    const replica_request *request;
    size_t sent;
};

static void begin_library(void) { (void)curl_global_init(CURL_GLOBAL_DEFAULT); }

replica_transfer *replica_transfer_new(const char *authorities, int timeout_seconds) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, begin_library);
    replica_transfer *self = calloc(1, sizeof *self);
    if (!self) return NULL;
    self->curl = curl_easy_init();
    self->authorities = authorities ? strdup(authorities) : NULL;
    self->timeout = timeout_seconds;
    if (self->curl && (self->authorities || !authorities)) return self;
    replica_transfer_free(self);
    return NULL;
}

void replica_transfer_free(replica_transfer *self) {
    if (self->curl) curl_easy_cleanup(self->curl);
    free(self->authorities);
    free(self->answer);
    free(self);
}

static size_t receive(char *bytes, size_t unit, size_t count, void *context) {
    replica_transfer *self = context;
    size_t size = unit * count, needed = self->size + size;
    if (needed > self->capacity) {
        size_t capacity = self->capacity * 2 > needed ? self->capacity * 2 : needed;
        uint8_t *answer = realloc(self->answer, capacity);
        if (!answer) return 0;
        self->answer = answer;
        self->capacity = capacity;
    }
    memcpy(self->answer + self->size, bytes, size);
    self->size += size;
    return size;
}

static size_t deliver(char *bytes, size_t unit, size_t count, void *context) {
    replica_transfer *self = context;
    size_t rest = self->request->size - self->sent, size = unit * count < rest ? unit * count : rest;
    memcpy(bytes, self->request->body + self->sent, size);
    self->sent += size;
    return size;
}

/// libcurl rewinds the body when it repeats a request on a new connection.
static int rewind_body(void *context, curl_off_t offset, int origin) {
    replica_transfer *self = context;
    if (origin != SEEK_SET || offset < 0 || (size_t)offset > self->request->size) return CURL_SEEKFUNC_FAIL;
    self->sent = (size_t)offset;
    return CURL_SEEKFUNC_OK;
}

static void set_body(replica_transfer *self, const replica_request *request) {
    curl_easy_setopt(self->curl, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(self->curl, CURLOPT_READFUNCTION, deliver);
    curl_easy_setopt(self->curl, CURLOPT_READDATA, self);
    curl_easy_setopt(self->curl, CURLOPT_SEEKFUNCTION, rewind_body);
    curl_easy_setopt(self->curl, CURLOPT_SEEKDATA, self);
    curl_easy_setopt(self->curl, CURLOPT_INFILESIZE_LARGE, (curl_off_t)request->size);
}

/// Milliseconds until an attempt to connect, or data that are not acknowledged, count as lost. The system would repeat
/// them after pauses that grow to a minute, and not notice for so long that the service is back.
enum { lost_after = 5000 };

static int set_up_socket(void *context, curl_socket_t descriptor, curlsocktype purpose) {
    (void)context; (void)purpose;
#ifdef TCP_USER_TIMEOUT
    unsigned duration = lost_after;
    // Without it, the request ends later.
    (void)setsockopt(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, &duration, sizeof duration);
#else
    (void)descriptor;
#endif
    return CURL_SOCKOPT_OK;
}

static void set_options(replica_transfer *self, const replica_request *request, struct curl_slist *headers) {
    CURL *curl = self->curl;
    // Keeps the connection.
    curl_easy_reset(curl);
    curl_easy_setopt(curl, CURLOPT_URL, request->url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    // The path is signed as it is.
    curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)(self->timeout < 5 ? self->timeout * 1000 : lost_after));
    curl_easy_setopt(curl, CURLOPT_SOCKOPTFUNCTION, set_up_socket);
    // A transfer that stalls ends; a long one that goes on does not.
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)self->timeout);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, self->error);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, self);
    if (self->authorities) curl_easy_setopt(curl, CURLOPT_CAINFO, self->authorities);
    if (request->body) set_body(self, request);
    if (strcmp(request->method, "HEAD") == 0) curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request->method);
}

static struct curl_slist *header_list(const replica_request *request) {
    // Waiting for "100 Continue" would delay each upload.
    struct curl_slist *list = curl_slist_append(NULL, "Expect:");
    for (size_t i = 0; list && i < request->header_count; i++) {
        struct curl_slist *longer = curl_slist_append(list, request->headers[i]);
        if (!longer) curl_slist_free_all(list);
        list = longer;
    }
    return list;
}

bool replica_transfer_send(replica_transfer *self, const replica_request *request, replica_response *response) {
    struct curl_slist *headers = header_list(request);
    self->request = request;
    self->sent = self->size = 0;
    self->error[0] = 0;
    CURLcode code = CURLE_OUT_OF_MEMORY;
    if (headers) {
        set_options(self, request, headers);
        code = curl_easy_perform(self->curl);
        curl_slist_free_all(headers);
    }
    memset(response, 0, sizeof *response);
    curl_easy_getinfo(self->curl, CURLINFO_RESPONSE_CODE, &response->status);
    response->body = self->answer;
    response->size = self->size;
    response->error = code == CURLE_OK ? NULL : self->error[0] ? self->error : curl_easy_strerror(code);
    if (code != CURLE_OK) response->status = 0;
    return code == CURLE_OK;
}
