# SPDX-License-Identifier: MIT
import fractions
import math

from grader.exercises.cases import Case, exercise, given, grid, returned, scratch

exercise(
    number=1,
    kind="write",
    minutes=35,
    points={"results": 7, "races": 3, "limits": 2},
    builds_on=["02_shared_memory_dot_product", "03_two_kernel_reduction"],
    limits={
        "global loads per element: at most 1.1": "Load each value once: what a second pass would "
        "compute, the triples of the threads hold already.",
        "launches per call: at most 2": "One kernel leaves a triple per block, a second one "
        "merges these: that is enough.",
        "global loads per thread: at most 64": "One thread does what many threads can do at the "
        "same time: share it out among them.",
        "bytes loaded per block: at most 16384": "That is far more than one block's share: all "
        "blocks are to work.",
    },
    starter_fails={"part": "results", "says": "mean: nothing was written, expected 4"},
    hints=[
        """What is the triple of a single value? Which triple changes nothing when it is merged with
        another one?""",
        """Write `merge` first: the difference of the two means is all that it takes besides the
        counts. Then a thread merges its values one by one, the block merges its threads, and the
        second kernel does the same with the blocks' triples in one block.""",
        """The mean moves by the difference, times b's part of all values. The squares of both add
        up, and the difference squared comes on top, times a's count, times the same part. If b is
        empty, return a before you divide.""",
    ],
)

U = 2.0**-53


def gamma(m):
    """N. Higham, Accuracy and Stability of Numerical Algorithms, 2nd edition, lemma 3.1."""
    return m * U / (1 - m * U)


def bounds(values, squares, chain):
    """How far the mean and the variance may be from the exact ones.

    Proof, with u = 2^-53, for every tree of merges in which no path has more than `chain` of them. (The
    merge is from T. Chan, G. Golub, R. LeVeque, Updating formulae and a pairwise algorithm for computing
    sample variances, 1979.) Let |x| <= X for all values, and R be the largest difference of two. The
    computed mean of each set is wrong by E at most:
      A merged mean lies between the two means, so exact arithmetic does not enlarge E. The difference, the
      product and the quotient round |difference| <= R + 2E by gamma_3, and the last addition rounds X + E
      by u. So a merge adds gamma_3 (R + 2E) + u (X + E). E is `chain` times that, solved for E.
    Let t = d^2 w with w = a b / (a + b) be what a merge adds to the squares: all t add up to S, the exact
      squares. The computed d is wrong by e = 2E + uR at most, so t is wrong by w (2 |d| e + e^2), and is
      then rounded by gamma_4. Over the tree, by Cauchy and Schwarz, that is C = 2 e sqrt(S W) + e^2 W,
      where W, the sum of all w, is at most n (1 + log2 n), since w <= min(a, b). Each t passes through 2
      additions per merge: |computed S - S| <= C + gamma_(2 chain + 5) (S + C), division by n included.
    Twice that covers Welford's form, whose two differences are those from the old and from the new mean.
    """
    n = len(values)
    largest, spread = max(map(abs, values)), max(values) - min(values)
    error = chain * (gamma(3) * spread + U * largest) / (1 - chain * (2 * gamma(3) + U))
    weights = n * (1 + math.log2(n))
    e = 2 * error + U * spread
    cross = 2 * e * math.sqrt(squares * weights) + e * e * weights
    return error, 2 * (cross + gamma(2 * chain + 5) * (squares + cross)) / n


def case(name, values, blocks, threads, **more):
    n, total = len(values), sum(values)  # whole numbers: exact
    squares = sum(value * value for value in values) - fractions.Fraction(total * total, n)
    # A thread's values, then all threads of a block, then all blocks, each one after the other.
    chain = -(-n // (blocks * threads)) + threads + blocks
    of_mean, of_variance = bounds(values, float(squares), chain)
    mean, variance = float(fractions.Fraction(total, n)), float(squares / n)
    return Case(
        f"{name}, {grid(blocks, threads)}",
        [
            given("values", "double", values),
            n,
            scratch("of_blocks", ("double", "double", "double"), blocks),
            returned("mean", "double", [mean], of_mean + U * abs(mean)),
            returned("variance", "double", [variance], of_variance + U * variance),
            blocks,
            threads,
        ],
        **more,
    )


def some(random, count, around=0):
    """Whole numbers that rise a little, so that each share of them has a mean of its own."""
    return [around + random.randrange(-9, 10) + 20 * i // count for i in range(count)]


def cases(random):
    far = "The values lie close together, around 10^8. Which of your subtractions loses digits?"
    yield case("1 value", [4], 1, 32)
    yield case("2 values, 3 and 7", [3, 7], 1, 32)
    yield case(
        "33 values",
        some(random, 33),
        2,
        32,
        question="One block has 32 values, the other one: do their means count the same?",
    )
    yield case(
        "7 values", some(random, 7, 50), 4, 32, question="Some threads and blocks have no value."
    )
    yield case("31 values", some(random, 31), 1, 31)
    yield case("257 equal values", [-3] * 257, 1, 256)
    yield case("1,000 values", some(random, 1000), 4, 64, races=True)
    yield case(
        "1,023 values around -10^8", some(random, 1023, -(10**8)), 3, 96, races=True, question=far
    )
    yield case(
        "4,096 values around 10^8", some(random, 4096, 10**8), 4, 128, counted=True, elements=4096
    )
    yield case("5,000 values around 10^8", some(random, 5000, 10**8), 1, 1024)
    yield case("100 values", some(random, 100), 100, 1)
    yield case("20,011 values around 10^8", some(random, 20011, 10**8), 33, 100)


def case_of_another_size(random):
    blocks, rounds = random.choice((3, 5, 6)), random.randrange(6, 14)
    count = blocks * 128 * rounds
    return case(f"{count:,} values", some(random, count, 10**8), blocks, 128, elements=count)
