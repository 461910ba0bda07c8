"""The Sphinx configuration of the documentation site: ``make docs`` builds it into out/docs."""

from __future__ import annotations

import sys
from pathlib import Path

import shafer

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS / "_ext"))

project = "shafer"
author = "The shafer developers"
copyright = "2026, the shafer developers"  # noqa: A001 - Sphinx reads this name
version = release = shafer.__version__

extensions = [
    "docstring_links",
    "inherited_sections",
    "myst_parser",
    "numpydoc",
    "offline_check",
    "offline_maths",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_ext", "_templates", "examples", "figures"]
templates_path = ["_templates"]
nitpicky = True  # a name in a docstring that has no page is an error
nitpick_ignore_regex = [("py:.*", r"sklearn\..*")]  # in docstrings of its base classes
suppress_warnings = ["config.cache"]  # the gallery's configuration holds objects

# Markdown. Anchors are those of code hosts, so one link works in both places.
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
myst_dmath_double_inline = True

# The reference: one page for each public name, written from its docstring.
autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_typehints = "none"  # docstrings describe the types in words
autodoc_member_order = "groupwise"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False  # the page template lists them
numpydoc_xref_param_type = False

# The gallery: each script of examples/ runs in the build. ``-D plot_gallery=0`` leaves them out.
sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "subsection_order": [
        "examples/explain",
        "examples/unknown",
        "examples/decide",
        "examples/missing",
        "examples/fuse",
        "examples/images_text",
        "examples/credit",
        "examples/production",
        "examples/stories",
    ],
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "backreferences_dir": "reference/generated/examples",
    "doc_module": ("shafer",),
    "image_srcset": ["2x"],
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,  # these pages load scripts from the network
    "min_reported_time": 30,
    "remove_config_comments": True,
    "matplotlib_animations": False,
    "parallel": 2,
}

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = "shafer"
html_static_path = ["_static"]
html_css_files = ["shafer.css"]
html_js_files = ["link_names.js"]
html_context = {"default_mode": "auto"}  # light or dark, as the reader's system
html_favicon = "_static/favicon.svg"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {
        "image_light": "_static/logo-light.svg",
        "image_dark": "_static/logo-dark.svg",
        "alt_text": "shafer, to the first page",
    },
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button"],
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "back_to_top_button": True,
    "footer_start": ["copyright"],
    "footer_center": [],
    "footer_end": ["theme-version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "glossary": [], "changelog": [], "cite": []}
