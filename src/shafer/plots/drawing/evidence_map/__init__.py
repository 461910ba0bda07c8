"""What ``EvidenceMapDisplay`` draws: an image, and the evidence of its locations over it.

``shown_image`` reads the user's image, ``map_cells`` finds which component covers which part of it,
``location_maps`` computes the values, ``map_blending`` mixes image and values, ``map_panels`` and
``map_scales`` draw, ``map_words`` names things.
"""
