"""``cobayes conjecture``: check counter-examples to Conjecture 5.3."""

from __future__ import annotations

import click

from cobayes.cli import options, terminal
from cobayes.cli.inputs import Given
from cobayes.conjecture import CertificateCheck, LimitCheck, known_certificates, load_certificate
from cobayes.errors import CobayesError

NOT_CONFIRMED = 1


@click.group(
    cls=options.Group, epilog="Example:\ncobayes conjecture check tv-paper-matrix --seed 1"
)
def conjecture() -> None:
    """Check counter-examples to Conjecture 5.3 of the paper.

    The conjecture: let theta be the learner's prior as the teacher assumes it, d its distance
    (Euclidean, l1 or total variation) from the learner's actual prior, and h the taught hypothesis.
    Then the learner succeeds with probability at least 1 - d / theta(h).
    """


@options.command(
    "cobayes conjecture check tv-paper-matrix --seed 1",
    "",
    "Certificates in cobayes:",
    *known_certificates(),
)
@options.argument(
    "file",
    required=False,
    metavar="FILE",
    help="The file of a certificate, or a name from the list below.",
)
@options.lessons(None, "Number of lessons (default: the number in FILE).", least=100)
@options.seed()
@options.as_json
def check(given: Given) -> int:
    """Compare a certificate's success rate with the conjectured bound.

    The exit code is 0 if the counter-example is confirmed or proved, otherwise 1. It is confirmed
    if two success rates, estimated from lessons and from coupled pairs of teacher and learner, lie
    at least six standard errors below the conjectured bound, even if unfinished lessons count as
    successes. It is proved if an enclosure of the success rate, or the witness (a sequence of data)
    in the file, shows that the success rate lies below the bound. A counter-example for all small
    perturbations is confirmed if, in the limit of zero distance, the ratio of the failure rate to
    its conjectured upper bound, d / theta(h), exceeds one by at least six standard errors.
    """
    if given.file is None:
        hint = f"give a file, or one of: {', '.join(known_certificates())}."
        raise CobayesError("missing argument 'FILE'.", hint)
    certificate = load_certificate(given.file)
    with terminal.patience("simulating lessons"):
        outcome = certificate.check(num_lessons=given.lessons, rng=given.used_seed)
    given.finish(
        {"file": given.file, **outcome.to_dict()},
        lambda: _show_limit(outcome) if isinstance(outcome, LimitCheck) else _show_check(outcome),
    )
    is_proved = not isinstance(outcome, LimitCheck) and outcome.is_proved
    return 0 if outcome.is_confirmed or is_proved else NOT_CONFIRMED


conjecture.add_command(check)


def _show_check(outcome: CertificateCheck) -> None:
    certificate = outcome.certificate
    rows = [("conjectured, at least", f"{certificate.conjectured_success:.4f}", "")]
    for rate in (outcome.lessons, outcome.coupled):
        value = f"{rate.value:.4f} ± {rate.stderr:.1g}"
        below = f"{outcome.standard_errors[rate.method]:.1f}"
        rows.append((f"measured by {rate.method}", value, below))
    upper = f"{outcome.enclosure.upper:.4f}"
    rows.append(("enclosed, at most", upper, ""))
    terminal.show_table(
        f"Conjecture 5.3, {certificate.distance} distance",
        [("", "<"), ("success rate", ">"), ("standard errors below", ">")],
        rows,
    )
    if outcome.is_confirmed:
        terminal.show("counter-example confirmed by both estimates")
    elif not outcome.is_proved:
        terminal.show("counter-example NOT confirmed")
    if outcome.is_enclosed:
        terminal.show(f"counter-example proved by enclosure: success is at most {upper}")
    if outcome.has_witness:
        terminal.show(
            f"counter-example proved by its witness, {len(certificate.witness)} data "
            f"(margin {outcome.witness_margin:.4g})"
        )


def _show_limit(outcome: LimitCheck) -> None:
    ratios = {f"1e{size:g}": ratio for size, ratio in outcome.at_sizes.items()}
    ratios["limit"] = outcome.limit
    terminal.show_table(
        "Conjecture 5.3, l1 distance, small perturbations",
        [
            ("l1 distance of the priors", "<"),
            ("failure rate / its conjectured bound, at least", ">"),
            ("standard errors above one", ">"),
        ],
        [
            (name, f"{r.value:.3f} ± {r.stderr:.1g}", f"{(r.value - 1.0) / r.stderr:.1f}")
            for name, r in ratios.items()
        ],
    )
    verdict = "confirmed" if outcome.is_confirmed else "NOT confirmed"
    terminal.show(f"counter-example for all small perturbations {verdict}")
