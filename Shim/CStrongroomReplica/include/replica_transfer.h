// HTTP requests by libcurl, whose functions with variable arguments Swift can't call.

#ifndef REPLICA_TRANSFER_H
#define REPLICA_TRANSFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A connection that is kept between requests. For one thread at a time.
typedef struct replica_transfer replica_transfer;

/// Returns NULL without memory. `authorities` is a file of certificates, or NULL for those of the system.
replica_transfer *replica_transfer_new(const char *authorities, int timeout_seconds);
void replica_transfer_free(replica_transfer *transfer);

typedef struct {
    const char *method, *url;
    const char *const *headers;     ///< Lines, without their ends.
    size_t header_count;
    const uint8_t *body;
    size_t size;
} replica_request;

typedef struct {
    long status;            ///< 0 if there was no answer.
    const uint8_t *body;    ///< Valid until the next request.
    size_t size;
    const char *error;      ///< libcurl's message, if there was no complete answer.
} replica_response;

/// Sends a request. Returns true if there was a complete answer, whatever its status.
bool replica_transfer_send(replica_transfer *transfer, const replica_request *request, replica_response *response);

#endif
