/* Times CHOLMOD and MUMPS on the matrices of `cargo xtask bench solvers`. Optional; nothing else needs it.
 *
 *     cargo xtask bench solvers --dump DIR [--only TEXT]
 *     apt-get install libsuitesparse-dev libmumps-seq-dev libopenblas0-pthread
 *     cc -O2 -I/usr/include/mumps_seq -I/usr/include/suitesparse benches/reference/direct.c -o direct -lcholmod -ldmumps_seq -lm
 *     OPENBLAS_CORETYPE=SKYLAKEX OPENBLAS_NUM_THREADS=1 ./direct DIR
 *
 * (Debian's names. OPENBLAS_CORETYPE for processors with AVX-512: old builds of OpenBLAS take those of virtual machines for older ones, and are two to five times slower.)
 * One thread. Numeric factorisation with the symbolic one reused, least of at least two; the matrix is the lower triangle of the file.
 * CHOLMOD: supernodal L L^T without rows, simplicial L D L^T with rows, the best of its own orders. MUMPS: positive definite without rows, else
 * general symmetric with pivoting; its own choice of order; at most two refinements. The residual is |rhs - K x|/|rhs|, both the largest component.
 */
#include <cholmod.h>
#include <dirent.h>
#include <dmumps_c.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BUDGET 3.0 /* seconds for one phase of one solver */

typedef struct {
    double analysis, factor, solve, residual;
    const char *failure; /* null: none */
} Figures;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

/* Least time of at least two and at most 200 runs of `action`, which returns 0 if it failed; negative then. */
static double least(int (*action)(void *), void *data) {
    double best = INFINITY, start = now();
    for (int runs = 0; runs < 2 || (runs < 200 && now() - start < BUDGET); runs++) {
        double begin = now();
        if (!action(data)) return -1.0;
        best = fmin(best, now() - begin);
    }
    return best;
}

static double residual(cholmod_sparse *a, cholmod_dense *b, const double *x, cholmod_common *c) {
    cholmod_dense *r = cholmod_copy_dense(b, c), *y = cholmod_zeros(a->nrow, 1, CHOLMOD_REAL, c);
    memcpy(y->x, x, a->nrow * sizeof(double));
    double minus[2] = {-1.0, 0.0}, one[2] = {1.0, 0.0};
    cholmod_sdmult(a, 0, minus, one, y, r, c);
    double largest = cholmod_norm_dense(r, 0, c) / cholmod_norm_dense(b, 0, c);
    cholmod_free_dense(&r, c);
    cholmod_free_dense(&y, c);
    return largest;
}

typedef struct {
    cholmod_sparse *a;
    cholmod_dense *b, *x;
    cholmod_factor *l;
    cholmod_common *c;
} Cholmod;

static int cholmod_once(void *data) {
    Cholmod *s = data;
    return cholmod_factorize(s->a, s->l, s->c) && s->c->status == CHOLMOD_OK;
}

static int cholmod_answer(void *data) {
    Cholmod *s = data;
    if (s->x) cholmod_free_dense(&s->x, s->c);
    s->x = cholmod_solve(CHOLMOD_A, s->l, s->b, s->c);
    return s->x != NULL;
}

static Figures by_cholmod(cholmod_sparse *a, cholmod_dense *b, int definite, cholmod_common *c) {
    Figures out = {0};
    Cholmod s = {a, b, NULL, NULL, c};
    c->supernodal = definite ? CHOLMOD_SUPERNODAL : CHOLMOD_SIMPLICIAL;
    c->final_ll = definite;
    double begin = now();
    s.l = cholmod_analyze(a, c);
    out.analysis = now() - begin;
    if (!s.l) out.failure = "analysis failed";
    if (!out.failure && (out.factor = least(cholmod_once, &s)) < 0) out.failure = "a pivot is zero or has the wrong sign";
    if (!out.failure && (out.solve = least(cholmod_answer, &s)) < 0) out.failure = "solve failed";
    if (!out.failure) out.residual = residual(a, b, s.x->x, c);
    if (s.x) cholmod_free_dense(&s.x, c);
    if (s.l) cholmod_free_factor(&s.l, c);
    return out;
}

typedef struct {
    DMUMPS_STRUC_C m;
    const double *b;
    double *x;
} Mumps;

static int mumps_job(Mumps *s, int job) {
    s->m.job = job;
    dmumps_c(&s->m);
    return s->m.infog[0] >= 0;
}

static int mumps_once(void *data) { return mumps_job(data, 2); }

static int mumps_answer(void *data) {
    Mumps *s = data;
    memcpy(s->x, s->b, s->m.n * sizeof(double)); /* MUMPS overwrites the right-hand side */
    return mumps_job(s, 3);
}

static Figures by_mumps(cholmod_sparse *a, cholmod_dense *b, int definite, cholmod_common *c) {
    Figures out = {0};
    static char failure[80];
    cholmod_triplet *t = cholmod_sparse_to_triplet(a, c);
    int *i = t->i, *j = t->j;
    for (size_t k = 0; k < t->nnz; k++) i[k]++, j[k]++;
    Mumps s = {.b = b->x, .x = malloc(a->nrow * sizeof(double))};
    s.m.par = 1;
    s.m.sym = definite ? 1 : 2;
    mumps_job(&s, -1);
    for (int k = 0; k < 4; k++) s.m.icntl[k] = 0; /* prints nothing */
    s.m.icntl[9] = 2;     /* refinements */
    s.m.icntl[13] = 100;  /* per cent of room for entries that pivoting adds */
    s.m.n = (int)a->nrow;
    s.m.nnz = (MUMPS_INT8)t->nnz;
    s.m.irn = i;
    s.m.jcn = j;
    s.m.a = t->x;
    s.m.rhs = s.x;
    double begin = now();
    int good = mumps_job(&s, 1);
    out.analysis = now() - begin;
    good = good && (out.factor = least(mumps_once, &s)) >= 0;
    good = good && (out.solve = least(mumps_answer, &s)) >= 0;
    if (good) out.residual = residual(a, b, s.x, c);
    else {
        snprintf(failure, sizeof failure, "error %d (%d)", s.m.infog[0], s.m.infog[1]);
        out.failure = failure;
    }
    mumps_job(&s, -2);
    cholmod_free_triplet(&t, c);
    free(s.x);
    return out;
}

static void print(const char *name, const char *solver, Figures f) {
    if (f.failure) printf("| %s | %s | %s | | | |\n", name, solver, f.failure);
    else printf("| %s | %s | %.3f | %.3f | %.3f | %.0e |\n", name, solver, 1e3 * f.analysis, 1e3 * f.factor, 1e3 * f.solve, f.residual);
    fflush(stdout);
}

static int matrices(const struct dirent *entry) {
    size_t n = strlen(entry->d_name);
    return n > 4 && !strcmp(entry->d_name + n - 4, ".mtx") && !(n > 8 && !strcmp(entry->d_name + n - 8, ".rhs.mtx"));
}

static FILE *open_or_stop(const char *path) {
    FILE *file = fopen(path, "r");
    if (!file) {
        perror(path);
        exit(1);
    }
    return file;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: %s DIR (of `cargo xtask bench solvers --dump DIR`)\n", argv[0]);
        return 2;
    }
    struct dirent **list;
    int count = scandir(argv[1], &list, matrices, alphasort);
    if (count < 0) {
        perror(argv[1]);
        return 1;
    }
    cholmod_common c;
    cholmod_start(&c);
    c.print = 0;
    printf("| matrix | solver | analysis ms | factor ms | solve ms | residual |\n|---|---|---|---|---|---|\n");
    for (int k = 0; k < count; k++) {
        char path[4096], name[256];
        snprintf(name, sizeof name, "%.*s", (int)strlen(list[k]->d_name) - 4, list[k]->d_name);
        snprintf(path, sizeof path, "%s/%s.mtx", argv[1], name);
        FILE *file = open_or_stop(path);
        cholmod_sparse *a = cholmod_read_sparse(file, &c);
        fclose(file);
        snprintf(path, sizeof path, "%s/%s.rhs.mtx", argv[1], name);
        file = open_or_stop(path);
        cholmod_dense *b = cholmod_read_dense(file, &c);
        fclose(file);
        if (!a || !b || a->stype == 0 || b->nrow != a->nrow) {
            fprintf(stderr, "%s: not a symmetric matrix with its right-hand side\n", path);
            return 1;
        }
        /* The rows of constraints have diagonals that are not positive. */
        cholmod_dense *diagonal = cholmod_zeros(a->nrow, 1, CHOLMOD_REAL, &c);
        int *start = a->p, *row = a->i, definite = 1;
        for (int j = 0; j < (int)a->ncol; j++)
            for (int p = start[j]; p < start[j + 1]; p++)
                if (row[p] == j) ((double *)diagonal->x)[j] = ((double *)a->x)[p];
        for (size_t j = 0; j < a->ncol; j++) definite = definite && ((double *)diagonal->x)[j] > 0.0;
        cholmod_free_dense(&diagonal, &c);
        print(name, "CHOLMOD", by_cholmod(a, b, definite, &c));
        print(name, "MUMPS", by_mumps(a, b, definite, &c));
        cholmod_free_sparse(&a, &c);
        cholmod_free_dense(&b, &c);
        free(list[k]);
    }
    free(list);
    cholmod_finish(&c);
    return 0;
}
