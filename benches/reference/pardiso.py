"""Times MKL's PARDISO on the matrices of `cargo xtask bench solvers`. Optional; nothing else needs it. CHOLMOD and MUMPS: `direct.c`.

    cargo xtask bench solvers --dump DIR [--only TEXT]
    pip install scipy pypardiso
    python benches/reference/pardiso.py DIR [--json FILE-OF-THE-SAME-RUN]

One thread. Numeric factorisation with the symbolic one reused, least of several; the symmetric matrix is the lower triangle of the file.
PARDISO: type 2 (positive definite) without rows, type -2 (indefinite, no matching, no scaling) with rows. Every time is of this run;
with --json the last column divides by the time that `cargo xtask bench solvers --json` wrote, which is honest
only if both ran on the same idle machine.
"""

import argparse
import json
import os
import pathlib
import time

os.environ["MKL_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
# Some builds of OpenBLAS take the processors of virtual machines for older ones.
os.environ.setdefault("OPENBLAS_CORETYPE", "SKYLAKEX")

import numpy as np  # noqa: E402
import scipy.io  # noqa: E402
import scipy.sparse as sparse  # noqa: E402

BUDGET = 3.0  # seconds for one matrix and solver


def least(action):
    """Least time of at least two and at most 200 runs."""
    best, start, runs = float("inf"), time.perf_counter(), 0
    while runs < 2 or (runs < 200 and time.perf_counter() - start < BUDGET):
        begin = time.perf_counter()
        action()
        best = min(best, time.perf_counter() - begin)
        runs += 1
    return best


def pardiso(whole, rhs, definite):
    """Analysis, factorisation and solution times and the answer."""
    from pypardiso import PyPardisoSolver

    # Names differ between versions of the package; the numbers are PARDISO's own.
    upper = sparse.triu(whole, format="csr")
    upper.sort_indices()
    solver = PyPardisoSolver(mtype=2 if definite else -2)
    solver.set_iparm(1, 1)  # no defaults
    solver.set_iparm(2, 2)  # METIS
    solver.set_iparm(8, 2)  # two refinements at most
    solver.set_iparm(10, 8)  # pivots below 1e-8 are perturbed
    solver.set_iparm(11, 0)
    solver.set_iparm(13, 0)
    solver.set_iparm(21, 1)  # 1x1 and 2x2 pivots

    def phase(number):
        solver.set_phase(number)
        return solver._call_pardiso(upper, rhs)

    begin = time.perf_counter()
    phase(11)
    analysis = time.perf_counter() - begin
    factor = least(lambda: phase(22))
    solve = least(lambda: phase(33))
    x = phase(33)
    solver.free_memory(everything=True)
    return analysis, factor, solve, x


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    own = {}
    if arguments.json:
        for case in json.loads(arguments.json.read_text()):
            name = "".join(c if c.isascii() and c.isalnum() else "_" for c in case["case"])
            own[name] = case["solvers"][0]["factor_s"]
    print("| matrix | solver | analysis ms | factor ms | solve ms | residual | factor / Pliant |")
    print("|---|---|---|---|---|---|---|")
    for path in sorted(arguments.folder.glob("*.mtx")):
        if path.name.endswith(".rhs.mtx"):
            continue
        whole = scipy.io.mmread(path).tocsr()
        rhs = scipy.io.mmread(path.with_suffix(".rhs.mtx")).ravel()
        definite = bool(np.all(whole.diagonal() > 0))
        try:
            analysis, factor, solve, x = pardiso(whole, rhs, definite)
        except Exception as error:  # what a library cannot solve is a result
            print(f"| {path.stem} | PARDISO | {type(error).__name__}: {error} | | | | |")
            continue
        residual = np.abs(rhs - whole @ x.ravel()).max() / np.abs(rhs).max()
        ratio = f"{factor / own[path.stem]:.2f}" if path.stem in own else ""
        times = " | ".join(f"{1e3 * t:.3f}" for t in (analysis, factor, solve))
        print(f"| {path.stem} | PARDISO | {times} | {residual:.0e} | {ratio} |", flush=True)


if __name__ == "__main__":
    main()
