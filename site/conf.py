"""Sphinx configuration of the site; site/build runs it."""

import os
import re

project = author = "rmctl"
html_title = "rmctl"
extensions = ["myst_parser"]
html_theme = "furo"
html_use_index = html_show_copyright = html_show_sphinx = html_copy_source = False
pygments_style, pygments_dark_style = "friendly", "monokai"
smartquotes = False  # "--wait" keeps both hyphens
highlight_language = "none"
suppress_warnings = ["misc.highlighting_failure"]  # some examples are wrong on purpose
myst_heading_anchors = 6
myst_all_links_external = False

ROOT = os.environ["RMCTL_SITE_PROJECT"]  # the project; Sphinx reads a copy of its docs
REPOSITORY = "https://github.com/rmctl/rmctl"
COMMANDS = "reference/commands/"  # the pages of rmctl man --markdown
LINK = re.compile(r"\]\(([^)#\s:]+)(#[^)\s]*)?\)")
ENTRY = re.compile(r"\]\(([^)#\s:]+)\.md\)")


def link_to_repository(page, text):
    """Links to files outside docs go to the repository."""
    folder = os.path.dirname(os.path.join(ROOT, "docs", page))

    def replace(match):
        path = os.path.relpath(os.path.normpath(os.path.join(folder, match[1])), ROOT)
        if path.startswith("docs" + os.sep) or not os.path.exists(os.path.join(ROOT, path)):
            return match[0]
        kind = "tree" if os.path.isdir(os.path.join(ROOT, path)) else "blob"
        return f"]({REPOSITORY}/{kind}/main/{path}{match[2] or ''})"

    return LINK.sub(replace, text)


def toctrees(page, found, text):
    """A toctree for each section of links, in their order; index.md gets the rest of each folder as well."""
    for section in re.split(r"^## ", text, flags=re.M)[1:]:
        pages = ENTRY.findall(section)
        if page == "index":
            folders = {os.path.dirname(entry) for entry in pages} - {""}
            pages += sorted(entry for entry in found - set(pages) if os.path.dirname(entry) in folders)
            if "reference" in folders:
                pages.append(COMMANDS + "rmctl")
        if pages:
            yield "\n```{toctree}\n:hidden:\n:caption: %s\n\n%s\n```\n" % (section.split("\n")[0], "\n".join(pages))


def read(app, page, source):
    text = link_to_repository(page, source[0])
    if page == "index" or page.startswith(COMMANDS):
        text += "".join(toctrees(page, app.env.found_docs, text))
    source[0] = text


def setup(app):
    app.connect("source-read", read)
