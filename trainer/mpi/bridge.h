// What this package asks of MPI, in one call each. Every function returns MPI's error code.

#include <stdint.h>

enum { bell_length = 10 }; // numbers of a message

// Levels of thread support, in MPI's order.
enum { level_single, level_funneled, level_serialized };

int bridge_library(char *text, int room);
int bridge_init(int level, int *provided, int *rank, int *size);
int bridge_finalize(void);
int bridge_error(int code, char *text, int room);
int bridge_host(char *text, int room);

int bridge_alloc(int64_t numbers, double **p);
int bridge_free(double *p);

// Collectives on numbers. The counts and displacements of the v-forms have one for each process.
int bridge_bcast(double *x, int count, int root);
int bridge_bcast_bytes(char *x, int count);
int bridge_reduce(double *x, int count);
int bridge_gather_int(int64_t mine, int64_t *all);
int bridge_gather_bytes(char *x, int count, char *all, int *counts, int *displacements);
int bridge_gather(double *x, int count, double *all, int *counts, int *displacements);
int bridge_exchange(double *out, int *out_counts, int *out_displacements, double *in, int *in_counts, int *in_displacements);

// Numbers from one process to another. The probe tells whether some have come.
int bridge_send(double *x, int count, int to);
int bridge_probe(int from, int *come);
int bridge_receive(double *x, int count, int from);

// The bell: process 0's messages to all others. Each listens, then asks whether one has come; to ask takes up to so many
// seconds if none has.
int bridge_ring(const int64_t *message);
int bridge_listen(void);
int bridge_heard(double spin, int64_t *message, int *come);

// A barrier that is passed without waiting in it.
int bridge_ready(void);
int bridge_all_ready(double spin, int *all);

// Notes of one process to another, of one number each.
int bridge_note(int64_t note, int to);
int bridge_notes(int *from, int64_t *note, int *come);
