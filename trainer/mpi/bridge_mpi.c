//go:build mpi

#include <mpi.h>
#include <string.h>

#include "bridge.h"

// What the run's own numbers travel on, and, apart from them so that both may be under way, messages and notes.
static MPI_Comm data, talk;
static int rank_, size_;

static MPI_Request bell = MPI_REQUEST_NULL, gate = MPI_REQUEST_NULL;
static int64_t heard[bell_length];

enum { tag_data = 1, tag_note };

#define TRY(call)                    \
	do {                             \
		int code_ = (call);          \
		if (code_ != MPI_SUCCESS)    \
			return code_;            \
	} while (0)

static void put(char *dst, int room, const char *src, int length) {
	if (length > room - 1)
		length = room - 1;
	memcpy(dst, src, length);
	dst[length] = 0;
}

int bridge_library(char *text, int room) {
	char long_text[MPI_MAX_LIBRARY_VERSION_STRING];
	int length = 0;
	TRY(MPI_Get_library_version(long_text, &length));
	put(text, room, long_text, length);
	return MPI_SUCCESS;
}

int bridge_init(int level, int *provided, int *rank, int *size) {
	const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED};
	int got;
	TRY(MPI_Init_thread(NULL, NULL, levels[level], &got));
	*provided = got >= MPI_THREAD_SERIALIZED ? level_serialized : got >= MPI_THREAD_FUNNELED ? level_funneled : level_single;
	TRY(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
	TRY(MPI_Comm_rank(MPI_COMM_WORLD, &rank_));
	TRY(MPI_Comm_size(MPI_COMM_WORLD, &size_));
	*rank = rank_;
	*size = size_;
	TRY(MPI_Comm_dup(MPI_COMM_WORLD, &data));
	TRY(MPI_Comm_dup(MPI_COMM_WORLD, &talk));
	TRY(MPI_Comm_set_errhandler(data, MPI_ERRORS_RETURN));
	return MPI_Comm_set_errhandler(talk, MPI_ERRORS_RETURN);
}

int bridge_finalize(void) { return MPI_Finalize(); }

int bridge_error(int code, char *text, int room) {
	char long_text[MPI_MAX_ERROR_STRING];
	int length = 0;
	TRY(MPI_Error_string(code, long_text, &length));
	put(text, room, long_text, length);
	return MPI_SUCCESS;
}

int bridge_host(char *text, int room) {
	char long_text[MPI_MAX_PROCESSOR_NAME];
	int length = 0;
	TRY(MPI_Get_processor_name(long_text, &length));
	put(text, room, long_text, length);
	return MPI_SUCCESS;
}

int bridge_alloc(int64_t numbers, double **p) {
	TRY(MPI_Alloc_mem((MPI_Aint)numbers * sizeof(double), MPI_INFO_NULL, p));
	memset(*p, 0, numbers * sizeof(double));
	return MPI_SUCCESS;
}

int bridge_free(double *p) { return MPI_Free_mem(p); }

int bridge_bcast(double *x, int count, int root) { return MPI_Bcast(x, count, MPI_DOUBLE, root, data); }

int bridge_bcast_bytes(char *x, int count) { return MPI_Bcast(x, count, MPI_BYTE, 0, data); }

int bridge_reduce(double *x, int count) {
	if (rank_ == 0)
		return MPI_Reduce(MPI_IN_PLACE, x, count, MPI_DOUBLE, MPI_SUM, 0, data);
	return MPI_Reduce(x, NULL, count, MPI_DOUBLE, MPI_SUM, 0, data);
}

int bridge_gather_int(int64_t mine, int64_t *all) {
	return MPI_Gather(&mine, 1, MPI_INT64_T, all, 1, MPI_INT64_T, 0, data);
}

int bridge_gather_bytes(char *x, int count, char *all, int *counts, int *displacements) {
	return MPI_Gatherv(x, count, MPI_BYTE, all, counts, displacements, MPI_BYTE, 0, data);
}

int bridge_gather(double *x, int count, double *all, int *counts, int *displacements) {
	return MPI_Gatherv(x, count, MPI_DOUBLE, all, counts, displacements, MPI_DOUBLE, 0, data);
}

int bridge_exchange(double *out, int *out_counts, int *out_displacements, double *in, int *in_counts, int *in_displacements) {
	return MPI_Alltoallv(out, out_counts, out_displacements, MPI_DOUBLE, in, in_counts, in_displacements, MPI_DOUBLE, data);
}

int bridge_send(double *x, int count, int to) { return MPI_Send(x, count, MPI_DOUBLE, to, tag_data, data); }

int bridge_probe(int from, int *come) { return MPI_Iprobe(from, tag_data, data, come, MPI_STATUS_IGNORE); }

int bridge_receive(double *x, int count, int from) {
	MPI_Status status;
	int got;
	TRY(MPI_Recv(x, count, MPI_DOUBLE, from, tag_data, data, &status));
	TRY(MPI_Get_count(&status, MPI_DOUBLE, &got));
	return got == count ? MPI_SUCCESS : MPI_ERR_TRUNCATE;
}

// test asks for a request until it is complete or some seconds have passed.
static int test(MPI_Request *request, double spin, int *complete) {
	double begin = MPI_Wtime();
	do
		TRY(MPI_Test(request, complete, MPI_STATUS_IGNORE));
	while (!*complete && MPI_Wtime() - begin < spin);
	return MPI_SUCCESS;
}

int bridge_ring(const int64_t *message) {
	int64_t out[bell_length];
	MPI_Request request;
	memcpy(out, message, sizeof out);
	TRY(MPI_Ibcast(out, bell_length, MPI_INT64_T, 0, talk, &request));
	return MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int bridge_listen(void) { return MPI_Ibcast(heard, bell_length, MPI_INT64_T, 0, talk, &bell); }

int bridge_heard(double spin, int64_t *message, int *come) {
	TRY(test(&bell, spin, come));
	if (*come)
		memcpy(message, heard, sizeof heard);
	return MPI_SUCCESS;
}

int bridge_ready(void) { return MPI_Ibarrier(data, &gate); }

int bridge_all_ready(double spin, int *all) { return test(&gate, spin, all); }

int bridge_note(int64_t note, int to) { return MPI_Send(&note, 1, MPI_INT64_T, to, tag_note, talk); }

int bridge_notes(int *from, int64_t *note, int *come) {
	MPI_Status status;
	TRY(MPI_Iprobe(MPI_ANY_SOURCE, tag_note, talk, come, &status));
	if (!*come)
		return MPI_SUCCESS;
	*from = status.MPI_SOURCE;
	return MPI_Recv(note, 1, MPI_INT64_T, *from, tag_note, talk, MPI_STATUS_IGNORE);
}
