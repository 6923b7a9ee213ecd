"""Many agents with one rule, whose beliefs are updated together."""

import numpy as np

from cobayes.rules.response import add_evidence


class Crowd:
    def __init__(self, rule, log_beliefs, size=None):
        logs = np.asarray(log_beliefs, dtype=float)
        self.rule = rule
        self.log_beliefs = np.array(
            np.broadcast_to(logs, (size or len(np.atleast_2d(logs)), logs.shape[-1]))
        )

    @property
    def beliefs(self):
        return np.exp(self.log_beliefs)

    @property
    def likelihoods(self):
        if self.rule.core is None:
            return np.array([self.rule.respond(logs).likelihood for logs in self.log_beliefs])
        return self.rule.core.respond(self.log_beliefs)[0]

    def draw(self, hypotheses, uniforms):
        shares = self.likelihoods[np.arange(len(self.log_beliefs)), :, hypotheses]
        sums = np.cumsum(shares, axis=1)
        last = shares.shape[1] - 1 - np.argmax(shares[:, ::-1] > 0.0, axis=1)
        return np.minimum((uniforms[:, None] * sums[:, -1:] >= sums).sum(axis=1), last)

    def observe(self, data):
        data = np.asarray(data, dtype=np.int64)
        if self.rule.core is not None:
            self.log_beliefs = self.rule.core.update(self.log_beliefs, data)[0]
        else:
            rows = self.rule.respond_many(self.log_beliefs)[np.arange(len(data)), data]
            self.log_beliefs = add_evidence(self.log_beliefs, rows)

    def keep(self, chosen):
        self.log_beliefs = self.log_beliefs[chosen]
