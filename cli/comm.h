/* Several processes that mpirun has started for one command. Process 0 prints and writes; the others are silent. */
#ifndef CLI_COMM_H
#define CLI_COMM_H

#include <jansson.h>
#include <npgnn/npgnn.h>

#include "settings.h"

/* What mpirun says in the environment: this process, from 0, of how many. 0 of 1 without mpirun. */
int comm_rank(void);
int comm_ranks(void);

/* Joins the other processes, and divides the cores of a machine among those on it, unless --threads says how many.
 * Processes other than the first become quiet. *comm stays NULL where there is one process. Returns 0, or EXIT_FAILED
 * after printing why. */
int comm_open(npgnn_comm **comm, common_settings *common);

/* After a step that a process may fail at alone: 0 where no process has failed. Otherwise process 0 has printed which
 * one, and why; returns the status to exit with. Without a comm, `status`. */
int comm_settle(npgnn_comm *comm, int status);

/* Adds to a report how many processes there are, and the bytes that this one has sent and received. Nothing without a
 * comm. */
void comm_report(json_t *report, const npgnn_comm *comm);

#endif
