// What Swift cannot call, or cannot call safely, of SQLCipher's C interface. Each wrapper says why it exists.

#ifndef STRONGROOM_H
#define STRONGROOM_H

#include <stdbool.h>
#include <stdint.h>
#include "../../CSQLCipher/sqlcipher.h"
#include "strongroom_connection.h"
#include "strongroom_stops.h"
#include "strongroom_controls.h"
#include "strongroom_crypto.h"
#include "strongroom_fence.h"
#include "strongroom_files.h"
#include "strongroom_formats.h"
#include "strongroom_fulltext.h"
#include "strongroom_signals.h"

#endif
