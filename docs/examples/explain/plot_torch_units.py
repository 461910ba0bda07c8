"""
What do the hidden units of a PyTorch network contribute?
=========================================================

The last layer of a network is a logistic regression on hidden units. So each unit is exactly a
piece of evidence, and nothing is trained again.
"""

# %%
# A small network for three species of iris. Any module that ends in ``nn.Linear`` works.
import numpy as np
import shafer
import torch
from matplotlib import pyplot
from shafer import plots
from sklearn.datasets import load_iris

iris = load_iris()
X = torch.tensor((iris.data - iris.data.mean(0)) / iris.data.std(0), dtype=torch.float32)
y = torch.tensor(iris.target)
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.Tanh(), torch.nn.Linear(5, 3))
optimiser = torch.optim.Adam(net.parameters(), lr=0.02, weight_decay=0.01)
for _ in range(300):
    optimiser.zero_grad()
    torch.nn.functional.cross_entropy(net(X), y).backward()
    optimiser.step()

# %%
# One flower between versicolor and virginica: which units support which species?
ev = shafer.Explainer(net, X, classes=iris.target_names)(X)
plots.WaterfallDisplay.from_evidence(ev, 77).plot()
pyplot.show()

# %%
# One unit alone: the masses of its evidence against its output. Mass on a set of species supports
# the set, but no single species in it. The last layer is read as arrays here: coefficients,
# intercepts, and the means of the units.
hidden, head = net[:-1](X).detach().numpy(), net[-1]
last = shafer.least_commitment(
    head.weight.detach().numpy(),
    head.bias.detach().numpy(),
    hidden.mean(axis=0),
    classes=iris.target_names,
    names=[f"unit {u}" for u in range(5)],
)
outputs = np.linspace(-1, 1, 101)
rows = np.tile(hidden.mean(axis=0), (101, 1))
rows[:, 4] = outputs
plots.UnitDisplay.from_evidence(last(rows), "unit 4", outputs).plot()
pyplot.show()

# %%
# **How to misread it.** A unit is not an input: it can respond to several measurements at once, and
# another training run gives other units.
