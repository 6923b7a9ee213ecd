"""``cobayes conjecture``: check counter-examples to Conjecture 5.3, and search for new ones."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from cobayes.cli import options, output, progress
from cobayes.cli.failures import CommandGroup, FriendlyCommand

if TYPE_CHECKING:
    from cobayes.conjecture.certificate import CertificateCheck
    from cobayes.conjecture.limit_certificate import LimitCheck
    from cobayes.conjecture.search import Falsifier
    from cobayes.conjecture.search_report import SearchReport
    from cobayes.stability.bounds import Distance

conjecture = typer.Typer(
    cls=CommandGroup,
    no_args_is_help=True,
    help=(
        "Check counter-examples to Conjecture 5.3 of the paper, and search for new ones.\n\n"
        "The conjecture: a learner whose prior is at distance d from the teacher's idea of it "
        "succeeds with probability at least 1 - d / theta(h)."
    ),
    epilog="Example:\n\ncobayes conjecture check tv-paper-matrix --seed 1",
    context_settings={"help_option_names": ["-h", "--help"]},
)

NOT_CONFIRMED = 1


@conjecture.command(
    "check",
    cls=FriendlyCommand,
    epilog="Certificates that come with cobayes:\n\n"
    "  euclidean-separated\n\n  euclidean-three-hypotheses\n\n"
    "  l1-small-perturbations\n\n  tv-paper-matrix\n\n"
    "Example:\n\ncobayes conjecture check tv-paper-matrix --seed 1",
)
def check(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="The file of a certificate, or the name of one that comes with cobayes (below).",
        ),
    ],
    sequences: Annotated[
        int | None,
        options.count_option(
            "--sequences",
            "-n",
            least=100,
            help="How many lessons to simulate (default: what FILE asks for).",
        ),
    ] = None,
    seed: options.Seed = None,
    as_json: options.AsJson = False,
) -> None:
    """Run a certificate again: measure the success rate against the conjecture.

    The exit code is 0 where two ways to measure put it at least six standard errors below what
    the conjecture says, or where an enclosure of the success rate or a sequence of data in the
    file proves it, else 1. A certificate for the limit of small perturbations is measured in one
    way, which must exceed one by six standard errors.
    """
    from cobayes.cli.inputs import choose_seed
    from cobayes.conjecture.certificate import check_certificate
    from cobayes.conjecture.limit_certificate import (
        LimitCertificate,
        LimitCheck,
        check_limit,
        load_certificate,
    )

    certificate = load_certificate(file)
    used_seed = choose_seed(seed)
    with progress.patience("simulating lessons"):
        if isinstance(certificate, LimitCertificate):
            outcome = check_limit(certificate, num_sequences=sequences, rng=used_seed)
        else:
            outcome = check_certificate(certificate, num_sequences=sequences, rng=used_seed)
    if as_json:
        output.print_json({"file": file, "seed": used_seed, **outcome.to_dict()})
    else:
        if isinstance(outcome, LimitCheck):
            _print_limit(outcome)
        else:
            _print_check(outcome)
        if seed is None:
            output.say_seed(used_seed, "get the same numbers")
    is_proved = not isinstance(outcome, LimitCheck) and outcome.is_proved
    if not (outcome.is_confirmed or is_proved):
        raise typer.Exit(NOT_CONFIRMED)


def _print_check(outcome: CertificateCheck) -> None:
    certificate = outcome.certificate
    console = output.console()
    table = output.table(
        f"Conjecture 5.3, {certificate.distance} distance",
        [("", "left"), ("success rate", "right"), ("standard errors below", "right")],
    )
    table.add_row("conjectured, at least", f"{certificate.conjectured_success:.4f}", "")
    for rate in (outcome.lessons, outcome.coupled):
        table.add_row(
            f"measured by {rate.method}",
            f"{rate.value:.4f} ± {rate.stderr:.1g}",
            f"{outcome.standard_errors[rate.method]:.1f}",
        )
    table.add_row("enclosed, at most", f"{outcome.enclosure.upper:.4f}", "")
    console.print(table)
    if outcome.is_confirmed:
        console.print("counter-example confirmed by both estimates", markup=False)
    elif not outcome.is_proved:
        console.print("counter-example NOT confirmed", markup=False)
    if outcome.is_enclosed:
        console.print(
            f"counter-example proved by enclosure: success is at most "
            f"{outcome.enclosure.upper:.4f}",
            markup=False,
        )
    if outcome.has_witness:
        console.print(
            f"counter-example proved by its witness, {len(certificate.witness)} data "
            f"(margin {outcome.witness_margin:.4g})",
            markup=False,
        )


def _print_limit(outcome: LimitCheck) -> None:
    console = output.console()
    table = output.table(
        "Conjecture 5.3, l1 distance, small perturbations",
        [
            ("l1 distance of the priors", "left"),
            ("failure over what is allowed, at least", "right"),
            ("standard errors above one", "right"),
        ],
    )
    for size, found in outcome.at_sizes.items():
        table.add_row(
            f"1e{size:g}",
            f"{found.value:.3f} ± {found.stderr:.1g}",
            f"{(found.value - 1.0) / found.stderr:.1f}",
        )
    limit = outcome.limit
    table.add_row(
        "limit", f"{limit.value:.3f} ± {limit.stderr:.1g}", f"{outcome.standard_errors:.1f}"
    )
    console.print(table)
    verdict = "confirmed" if outcome.is_confirmed else "NOT confirmed"
    console.print(f"counter-example for all small perturbations {verdict}", markup=False)


@conjecture.command(
    "search",
    cls=FriendlyCommand,
    epilog="Example:\n\ncobayes conjecture search --distance tv --minutes 10 --out search-tv",
)
def search(
    out: Annotated[
        Path,
        typer.Option("--out", metavar="DIR", help="The folder of the search."),
    ],
    distance: Annotated[
        str,
        typer.Option(
            "--distance",
            **options.choice("euclidean", "l1", "tv"),
            help="How the distance between the two priors is measured.",
        ),
    ] = "tv",
    minutes: Annotated[
        float,
        typer.Option(
            "--minutes",
            parser=options.number(0.0, float("inf"), closed="low"),
            metavar="MINUTES",
            help="How long to search in this session.",
        ),
    ] = 10.0,
    seed: Annotated[
        int,
        options.count_option("--seed", least=0, help="The seed of the search over all sessions."),
    ] = 0,
    alpha: Annotated[
        float,
        typer.Option(
            "--alpha",
            parser=options.number(0.0, 1.0),
            metavar="PROBABILITY",
            help="The probability that the whole search claims something false.",
        ),
    ] = 0.01,
    as_json: options.AsJson = False,
) -> None:
    """Search for counter-examples; run it again with the same DIR to go on.

    Candidates are screened and varied; a claim is made only by a sequential test on new random
    numbers. Confirmed counter-examples are written to DIR as certificates.
    """
    from cobayes.conjecture.search import Falsifier

    report = Falsifier(out, cast("Distance", distance), seed=seed, alpha=alpha).run(
        minutes, _Notifier()
    )
    if as_json:
        output.print_json(report.to_dict())
    else:
        _print_report(report, out)


class _Notifier:
    """Tells on stderr how far the search is, every half minute."""

    def __init__(self, every: float = 30.0) -> None:
        self._every = every
        self._next = time.monotonic() + every

    def __call__(self, falsifier: Falsifier) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + self._every
            output.say(falsifier.status)


def _print_report(report: SearchReport, folder: Path) -> None:
    console = output.console()
    table = output.facts(f"search against Conjecture 5.3, {report.distance} distance")
    table.add_row("candidates", f"{report.num_candidates} in {report.seconds / 60.0:.1f} minutes")
    table.add_row("tests", f"{report.num_tests}, false-alarm rate {report.alpha:g} in all")
    if report.slope is not None and report.worst is not None:
        low, high = report.slope.interval()
        n, m = report.worst.matrix.shape
        table.add_row(
            "steepest slope",
            f"{report.slope.value:.4f}, 95 % interval {low:.4f} to {high:.4f} "
            f"({report.worst.family}, {n} x {m}; the conjecture says at most 1)",
        )
    console.print(table)
    if not report.confirmed:
        console.print("no counter-example confirmed", markup=False)
    for entry in report.confirmed:
        console.print(
            f"counter-example {folder / entry['file']}: slope {entry['slope']:.4f} ± "
            f"{entry['stderr']:.1g}, evidence e^{entry['log_evidence']:.0f}",
            markup=False,
        )
