"""What ``make bench-maps`` measures: whether maps of evidence tell the truth.

- ``fashion_files``: all of Fashion-MNIST, from the files of Debian's package.
- ``networks``, ``train_networks``, ``bundle_fashion``: the networks, their training, and the subset
  and weights that ``shafer.datasets`` carries.
- ``image_methods``: a map of one class, by this library, captum, SHAP, and at random.
- ``image_deletion``, ``pointing_game``, ``map_times``: what is measured of a map.
- ``image_study``: all of it, over networks, seeds and images.
- ``text_deletion``: the same for the words of texts.
"""
