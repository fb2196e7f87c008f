// Commits in the write-ahead log of a database that can't be read yet.

#ifndef STRONGROOM_LOG_STATE_H
#define STRONGROOM_LOG_STATE_H

#include "strongroom_connection.h"

typedef enum {
    STRONGROOM_LOG_ABSENT,   ///< The connection has no log open: there is another journal, or nothing was read yet.
    STRONGROOM_LOG_SETTLED,  ///< The index names every commit that stands in the log.
    STRONGROOM_LOG_PENDING,  ///< The log holds what may be a commit that the index doesn't name yet.
} strongroom_log_state;

/// Compares the log of the main database with its index. The calling thread has access, outside of any transaction.
strongroom_log_state strongroom_check_log(strongroom_connection *connection);

#endif
