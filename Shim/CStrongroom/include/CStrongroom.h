// Functions that Swift can't call, or can't call safely: one subject per header.

#ifndef STRONGROOM_H
#define STRONGROOM_H

#include <stdbool.h>
#include <stdint.h>
#include "../../CSQLCipher/sqlcipher.h"
#include "strongroom_access.h"
#include "strongroom_calls.h"
#include "strongroom_connection.h"
#include "strongroom_crypto.h"
#include "strongroom_files.h"
#include "strongroom_keys.h"
#include "strongroom_log.h"
#include "strongroom_log_state.h"
#include "strongroom_opening.h"
#include "strongroom_pages.h"
#include "strongroom_processes.h"
#include "strongroom_rekey.h"
#include "strongroom_replacing.h"
#include "strongroom_signals.h"
#include "strongroom_slots.h"
#include "strongroom_stops.h"
#include "strongroom_threads.h"
#include "strongroom_vfs.h"

#endif
