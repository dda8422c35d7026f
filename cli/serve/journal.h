/* The journal of a server: what was added to its graph, so that nothing that was acknowledged is lost.
 *
 *     npgnn journal 2 FINGERPRINT\n          of the graph that the additions belong to, 16 hexadecimal digits
 *     CRC+{"nodes":[...]}\n                  one line per record: CRC-32 of the JSON, 8 hexadecimal digits; a plus sign in the first
 *     CRC {"links":[...]}\n                  of the records that are synced together, a blank in the others; the JSON, which
 *                                            is the body of the request
 *
 * A record is complete when its line is, and its CRC is right. After a power loss any of the records that were being written may be
 * torn: none of them was acknowledged, and they are dropped from the first bad one on. A bad record before a plus sign had
 * been on disk: that is damage, and refused. */
#ifndef CLI_SERVE_JOURNAL_H
#define CLI_SERVE_JOURNAL_H

#include <stddef.h>
#include <stdint.h>

typedef struct journal journal;

/* Receives the JSON of a record; non-zero ends the replay, with a sentence in `why`. */
typedef int journal_fn(void *user, const char *json, size_t size, char *why, size_t why_size);

/* Opens or creates the journal, locks it against other servers, and replays its records. *dropped: bytes of a torn last
 * record that were cut off. Returns 0, or -1 with a sentence in `why`. */
int journal_open(journal **out, int64_t *dropped, const char *path, uint64_t fingerprint, journal_fn *replay,
                 void *user, char *why, size_t why_size);

/* Appends a record in memory, and returns its number, from 1 on; 0 where memory is out. Records are written in this
 * order. */
int64_t journal_append(journal *journal, const char *json, size_t size);

/* Returns when the record with this number is on disk. Of several threads that wait, one writes for all. -1: it could
 * not be written, and no later record can be. */
int journal_sync(journal *journal, int64_t number);

/* Whether records can still be written. */
int journal_is_writable(journal *journal);

/* Records and bytes on disk. */
void journal_counts(int64_t *records, int64_t *bytes, journal *journal);
void journal_close(journal *journal);

#endif
