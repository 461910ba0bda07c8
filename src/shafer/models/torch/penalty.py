"""``least_commitment_penalty``: the sum of squared weights of evidence, for training."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def least_commitment_penalty(head: nn.Linear, features: Tensor) -> Tensor:
    r"""Return the sum of squared weights of evidence of a batch, to be added to a training loss.

    Exact, where weight decay is a heuristic (Denœux 2019, Remark 1). The batch is the background:

    .. math:: \sum_{i,j,k} w_{ijk}^2 = \sum_{j,k} \beta^{*2}_{jk} \sum_i (\phi_{ij} - \mu_j)^2
              + \frac{n}{J} \sum_k b_k^2, \qquad b_k = \beta^*_{0k} + \sum_j \beta^*_{jk} \mu_j .

    Differentiable in the head and in the features. A head with one output is a binary log-odds
    model; its two columns of weights ±w/2 make the sum half of the paper's.

    For a linear model on standardised features it is ridge with one more column, the constant √J,
    in place of the intercept; docs/background/benchmarks/commitment.md compares it with ridge.

    Parameters
    ----------
    head : nn.Linear
        The last layer.
    features : tensor of shape (n, J)
        What enters it.

    Returns
    -------
    scalar tensor
        Add it to the loss.

    See Also
    --------
    shafer.Explainer : Explains the trained network.
    shafer.least_commitment : The same idea for a trained linear model.

    Examples
    --------
    >>> import torch
    >>> from shafer.models.torch import least_commitment_penalty
    >>> head = torch.nn.Linear(4, 3)
    >>> features = torch.randn(8, 4)
    >>> loss = head(features).logsumexp(1).mean() + 1e-3 * least_commitment_penalty(head, features)
    >>> loss.backward()
    """
    if features.ndim != 2 or features.shape[1] != head.in_features or len(features) == 0:
        raise ValueError(
            f"features must have shape (n, {head.in_features}) with n ≥ 1; "
            f"got {tuple(features.shape)}."
        )
    coef, intercept = coefficients(head)
    if coef.shape[0] == 1:
        coef, intercept = torch.cat([-coef, coef]) / 2, torch.cat([-intercept, intercept]) / 2
    coef = coef - coef.mean(dim=0)  # (K, J): β*
    means = features.mean(dim=0)
    spread = (features - means).square().sum(dim=0)  # (J,)
    at_means = intercept - intercept.mean() + coef @ means  # (K,): b
    n, n_features = features.shape
    return (coef.square().sum(dim=0) * spread).sum() + n / n_features * at_means.square().sum()


def coefficients(head: nn.Linear) -> tuple[Tensor, Tensor]:
    """Return the weight and the bias of a linear layer; zeros if it has no bias."""
    bias: Tensor | None = head.bias  # torch's annotation forgets bias=False
    return head.weight, head.weight.new_zeros(head.out_features) if bias is None else bias
