// What replication needs from C: SQLite's locks without its pager, the frames of a log, digests, signatures and HTTP.

#ifndef STRONGROOM_REPLICA_H
#define STRONGROOM_REPLICA_H

#include "replica_digest.h"
#include "replica_file.h"
#include "replica_log.h"
#include "replica_transfer.h"

#endif
