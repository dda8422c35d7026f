/* Several processes that mpirun has started for one command. Process 0 prints and writes.
 *
 * A process that fails cannot know whether the others fail too, and mpirun ends all of them as soon as one has failed.
 * So process 0 says at once why it fails; another one waits for it, and speaks if it is still there after that. */
#ifndef CLI_COMM_H
#define CLI_COMM_H

#include <jansson.h>
#include <npgnn/npgnn.h>

#include "settings.h"

/* What mpirun says in the environment: this process, from 0, of how many. 0 of 1 without mpirun. The variables may be
 * inherited from a process that mpirun has started; comm_open finds out. */
int comm_rank(void);
int comm_ranks(void);

/* The first and the last call of the program. After the first one, the only process that prints is 0. The last one
 * returns the status to exit with, and lets another process that fails alone say why. */
void comm_begin(void);
int comm_end(int status);

/* The error where there are several processes and `what` does not work in them. Returns EXIT_FAILED. */
int comm_refuse(const char *what);

/* Joins the other processes, compares the command line of all, and divides the cores of a machine among those on it,
 * unless --threads says how many. Processes other than the first become quiet. *comm stays NULL where there is one
 * process. Returns 0, or EXIT_FAILED after printing why. */
int comm_open(npgnn_comm **comm, common_settings *common, const cli_command *command, const void *settings);

/* After a step that a process may fail at alone: 0 where no process has failed. Otherwise process 0 has printed which
 * one, and why; returns the status to exit with. Without a comm, `status`. */
int comm_settle(npgnn_comm *comm, int status);

/* Leaves the other processes, and returns `status`. Where it is not 0, they may be in a call that this process will
 * never make: mpirun ends them when it sees the status. */
int comm_close(npgnn_comm *comm, int status);

/* Adds to a report how many processes there are, and the bytes that this one has sent and received. Nothing without a
 * comm. */
void comm_report(json_t *report, const npgnn_comm *comm);

#endif
