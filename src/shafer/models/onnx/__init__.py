"""ONNX graphs that end in a linear layer or in trees; onnxruntime runs what lies before them.

Start at ``model``, which makes a ``ReadModel``. ``reading`` finds what a graph makes of its last
layer. It uses ``head``, which finds that layer, ``forms``, which lists what may be made of its
logits, ``columns``, which traces features to columns of the data, and ``trees``, which reads tree
ensembles. ``checked`` reads a file and checks a graph before anything of it runs, ``graph`` knows
its nodes and constants, ``branches`` puts in what is the same for all rows, ``inputs`` and ``run``
pass rows through it. onnx and onnxruntime are loaded with the first graph.
"""
