"""ONNX graphs that end in a linear layer or in trees; onnxruntime runs what lies before them.

``checked`` reads a file and checks a graph before anything of it runs, ``graph`` knows its nodes
and constants, ``branches`` puts in what is the same for all rows, ``inputs`` and ``run`` pass rows
through it, ``head`` finds the last layer, ``forms`` tells what the graph makes of its logits,
``columns`` traces features to columns of the data, ``trees`` reads tree ensembles, ``model`` puts
them together. onnx and onnxruntime are loaded with the first graph.
"""
