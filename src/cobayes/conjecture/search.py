"""A search for counter-examples to Conjecture 5.3 that cannot fool itself.

Candidates are screened with few sequences and the best of them varied. What the screening
selects looks better than it is; so a claim is made only by a sequential test on new random
numbers, and all tests of a search share one false-alarm rate. Of several candidates that might
be screened, the one with the steepest slope in the limit of small perturbations is taken: that
slope costs a sixth of a screening, and is a good guide (docs/conjecture.md).
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from cobayes._input.validation import number_between
from cobayes.conjecture.betting import BettingTest, spent
from cobayes.conjecture.candidates import Candidate, draw_candidate, mutate
from cobayes.conjecture.certificate import ENCLOSED_DEPTH, ENCLOSED_LEAVES, Certificate
from cobayes.conjecture.limit_search import candidate_slope
from cobayes.conjecture.search_report import SearchReport, Slope
from cobayes.errors import CobayesError, ConvergenceError
from cobayes.stability.bounds import Distance, prior_distance
from cobayes.stability.enclosure import success_enclosure
from cobayes.stability.sequences import TeachingSequences
from cobayes.stability.success import success_rate

FORMAT = 1
STATE = "search.json"

SCREENED, REFINED, TESTED, MOST_TESTED, FINAL = 1500, 6000, 5000, 150_000, 40_000
SCREEN_ROUNDS, TEST_ROUNDS = 2000, 20_000
ELITE = 16
FRESH = 0.3
# Of so many candidates one is screened, chosen by its slope over so many rounds and sequences in
# the limit of small perturbations.
PROPOSED, PROPOSED_ROUNDS, PROPOSED_SEQUENCES = 4, 40, 100
# A new claim must beat the last one by this factor: tests are not spent on trifles.
PROGRESS = 1.02
# Screening estimates must be this far above, in standard errors, to be worth a test.
PROMISING = 3.0
# What unfinished sequences may hide, at most, of a screened candidate.
MOST_HIDDEN = 0.02


class Falsifier:
    """A search that can be stopped at any time and taken up again.

    Parameters
    ----------
    folder
        Where the state and the certificates are kept. A search that is there already goes on.
    distance
        The form of the conjecture: "euclidean", "l1" or "tv".
    seed
        An integer; with the folder's state it fixes everything but the time it takes.
    alpha
        The probability that the whole search, however long, confirms something that is false.

    Examples
    --------
    >>> import tempfile
    >>> from cobayes.conjecture import Falsifier
    >>> search = Falsifier(tempfile.mkdtemp(), "tv", seed=1)
    >>> search.step()
    >>> search.report().num_candidates
    1
    """

    def __init__(
        self, folder: str | Path, distance: Distance = "tv", *, seed: int = 0, alpha: float = 0.01
    ) -> None:
        prior_distance([1.0], [1.0], distance)
        number_between(alpha, "alpha", 0.0, 1.0)
        self.folder = Path(folder)
        self.distance: Distance = distance
        self.seed = seed
        self.alpha = alpha
        self._num_candidates = 0
        self._num_tests = 0
        self._seconds = 0.0
        self._elite: list[tuple[Candidate, Slope]] = []
        self._confirmed: list[dict[str, Any]] = []
        self._restore()

    def run(
        self, minutes: float, notify: Callable[[Falsifier], None] | None = None
    ) -> SearchReport:
        """Search for some minutes and report.

        Parameters
        ----------
        minutes
            How long, on top of what was done before.
        notify
            Called after every candidate.

        Returns
        -------
        SearchReport
            The steepest candidate, measured anew.
        """
        start, before = time.monotonic(), self._seconds
        while time.monotonic() - start < 60.0 * minutes:
            self.step()
            self._seconds = before + time.monotonic() - start
            self._save()
            if notify is not None:
                notify(self)
        return self.report()

    def step(self) -> None:
        """Look at one more candidate."""
        number = self._num_candidates
        rng = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(number,)))
        self._num_candidates += 1
        if self._elite and number % 8 == 7:
            self._look_again(rng)
            return
        candidate = self._propose(rng)
        first = self._measure(candidate, SCREENED, SCREEN_ROUNDS, rng)
        if first is None:
            return
        is_full = len(self._elite) == ELITE
        if is_full and first.value + 2.0 * first.stderr < self._elite[-1][1].value:
            return
        second = self._measure(candidate, REFINED, SCREEN_ROUNDS, rng)
        if second is None:
            return
        self._elite.append((candidate, second))
        self._rank()
        self._test_if_promising(candidate, second, rng)

    def report(self) -> SearchReport:
        """Measure the steepest candidate with new sequences and report."""
        worst, slope = None, None
        if self._elite:
            worst = self._elite[0][0]
            rng = np.random.default_rng(
                np.random.SeedSequence(self.seed, spawn_key=(self._num_candidates, 1))
            )
            slope = self._measure(worst, FINAL, TEST_ROUNDS, rng)
        return SearchReport(
            self.distance,
            self._num_candidates,
            self._num_tests,
            self.alpha,
            self._seconds,
            worst,
            slope,
            tuple(self._confirmed),
        )

    @property
    def status(self) -> str:
        """One line about how far the search is."""
        best = f"{self._elite[0][1].value:.3f}" if self._elite else "none yet"
        return (
            f"{self._num_candidates} candidates, {self._num_tests} tests, "
            f"{len(self._confirmed)} confirmed, steepest slope about {best}"
        )

    def _propose(self, rng: np.random.Generator) -> Candidate:
        """Return the most promising of a few new or varied candidates."""
        found = [self._new_candidate(rng) for _ in range(PROPOSED)]
        return max(found, key=lambda candidate: self._limit(candidate, rng))

    def _new_candidate(self, rng: np.random.Generator) -> Candidate:
        if len(self._elite) < ELITE or rng.random() < FRESH:
            return draw_candidate(rng, self.distance)
        # The better half is varied more often.
        position = int(len(self._elite) * rng.random() ** 2)
        return mutate(self._elite[position][0], rng, self.distance)

    def _limit(self, candidate: Candidate, rng: np.random.Generator) -> float:
        """Return a candidate's slope in the limit of small perturbations, roughly."""
        try:
            return candidate_slope(
                candidate, self.distance, PROPOSED_ROUNDS, PROPOSED_SEQUENCES, rng
            ).value
        except ConvergenceError:
            return -math.inf

    def _measure(
        self, candidate: Candidate, num_sequences: int, max_rounds: int, rng: np.random.Generator
    ) -> Slope | None:
        """Estimate a slope; None where too much stays hidden or the numerics give up."""
        allowed = candidate.allowed(self.distance)
        try:
            rate = success_rate(
                candidate.matrix,
                hypothesis=0,
                teacher_prior=candidate.teacher_prior,
                learner_prior=candidate.learner_prior,
                num_sequences=num_sequences,
                max_rounds=max_rounds,
                rng=rng,
            )
        except ConvergenceError:
            return None
        if rate.upper - rate.lower > MOST_HIDDEN:
            return None
        # A standard error of zero, from a few equal numbers, would look like certainty.
        stderr = max(rate.stderr, 1.0 / num_sequences)
        return Slope((1.0 - rate.upper) / allowed, stderr / allowed, num_sequences)

    def _look_again(self, rng: np.random.Generator) -> None:
        """Measure one of the best again: what was selected for luck falls back."""
        position = int(len(self._elite) * rng.random() ** 2)
        candidate, slope = self._elite[position]
        again = self._measure(candidate, REFINED, SCREEN_ROUNDS, rng)
        if again is not None:
            self._elite[position] = (candidate, slope.merged(again))
            self._rank()
            self._test_if_promising(candidate, slope.merged(again), rng)

    def _rank(self) -> None:
        self._elite.sort(key=lambda entry: entry[1].stderr - entry[1].value)
        del self._elite[ELITE:]

    def _test_if_promising(
        self, candidate: Candidate, slope: Slope, rng: np.random.Generator
    ) -> None:
        beaten = max((entry["slope"] for entry in self._confirmed), default=1.0 / PROGRESS)
        if slope.value - PROMISING * slope.stderr > max(1.0, PROGRESS * beaten):
            self._test(candidate, rng)

    def _test(self, candidate: Candidate, rng: np.random.Generator) -> None:
        """Test one candidate on new sequences; write a certificate where it is confirmed."""
        level = spent(self.alpha, self._num_tests)
        self._num_tests += 1
        allowed = candidate.allowed(self.distance)
        test = BettingTest(1.0 - allowed)
        while test.count < MOST_TESTED:
            sequences = TeachingSequences.draw(
                candidate.matrix,
                0,
                prior=candidate.teacher_prior,
                num_sequences=TESTED,
                max_rounds=TEST_ROUNDS,
                rng=rng,
            )
            test.add(sequences.most_success_of(prior=candidate.learner_prior))
            # Enough for an estimate even where the evidence is there at once.
            if test.count >= 4 * TESTED and test.rejects(level):
                self._write_certificate(candidate, test, level)
                return

    def _write_certificate(self, candidate: Candidate, test: BettingTest, level: float) -> None:
        allowed = candidate.allowed(self.distance)
        slope, stderr = (1.0 - test.mean) / allowed, test.stderr / allowed
        # As many as put eight standard errors between the claim and what is measured.
        spread = test.stderr * math.sqrt(test.count)
        needed = (8.0 * spread / (1.0 - allowed - test.mean)) ** 2
        name = f"{self.distance}-{len(self._confirmed) + 1:03d}.json"
        enclosure = success_enclosure(
            candidate.matrix,
            0,
            teacher_prior=candidate.teacher_prior,
            learner_prior=candidate.learner_prior,
            depth=ENCLOSED_DEPTH,
            max_leaves=ENCLOSED_LEAVES,
        )
        Certificate.of(
            candidate.matrix,
            0,
            candidate.teacher_prior,
            candidate.learner_prior,
            self.distance,
            num_sequences=int(np.clip(1000.0 * math.ceil(needed / 500.0), 10_000, 1_000_000)),
            max_rounds=TEST_ROUNDS,
            story=f"Found by a search of seed {self.seed} after {self._num_candidates} candidates, "
            f"from the family {candidate.family!r}.",
            evidence={
                "slope": slope,
                "slope_stderr": stderr,
                "success": test.mean,
                "num_sequences": test.count,
                "log_evidence": test.log_evidence,
                "log_evidence_needed": -math.log(level),
                "enclosure": enclosure.to_dict(),
            },
        ).save(self.folder / name)
        self._confirmed.append(
            {"file": name, "slope": slope, "stderr": stderr, "log_evidence": test.log_evidence}
        )

    def _save(self) -> None:
        content = {
            "format": FORMAT,
            "distance": self.distance,
            "seed": self.seed,
            "alpha": self.alpha,
            "num_candidates": self._num_candidates,
            "num_tests": self._num_tests,
            "seconds": self._seconds,
            "elite": [
                {**candidate.to_dict(), "slope": vars(slope)} for candidate, slope in self._elite
            ],
            "confirmed": self._confirmed,
        }
        # Written aside and moved: an interrupted search never leaves half a state.
        aside = self.folder / (STATE + ".part")
        aside.write_text(json.dumps(content), encoding="utf-8")
        aside.replace(self.folder / STATE)

    def _restore(self) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CobayesError(
                f"the folder {self.folder} cannot be made: {error.strerror}."
            ) from error
        path = self.folder / STATE
        if not path.exists():
            return
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            found = (content["distance"], content["seed"], content["alpha"])
        except (ValueError, KeyError, OSError) as error:
            raise CobayesError(
                f"{path} cannot be read: {error}.", "move it away to start anew."
            ) from error
        if found != (self.distance, self.seed, self.alpha):
            raise CobayesError(
                f"the search in {self.folder} has distance {found[0]}, seed {found[1]}, alpha "
                f"{found[2]}; asked for were {self.distance}, {self.seed}, {self.alpha}.",
                "take another folder, or the same settings.",
            )
        self._num_candidates = content["num_candidates"]
        self._num_tests = content["num_tests"]
        self._seconds = content["seconds"]
        self._elite = [
            (Candidate.from_dict(entry), Slope(**entry["slope"])) for entry in content["elite"]
        ]
        self._confirmed = content["confirmed"]
