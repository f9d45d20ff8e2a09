# SPDX-License-Identifier: Apache-2.0
"""A hook of mkdocs.yml: collects README.md, docs/ and what they link to in the
site's source, in the folders of this repository, so that links stay right; and
makes the navigation from the sections of docs/README.md."""

import os
import re
import shutil
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FENCE = re.compile(r"^(```|~~~).*?^\1\s*?$", re.M | re.S)
LINK = re.compile(r"\]\(\s*<?([^)\s>#]+)[^)]*\)")
NAMED_LINK = re.compile(r"\[([^\]]+)\]\(([^)#]+\.md)\)")
# Python-Markdown's fences have one word.
WORDS = re.compile(r"^( *```\w+)(?: .*)$", re.M)


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def linked(page):
    """The files and folders of this repository to which a page links."""
    for link in LINK.findall(FENCE.sub("", read(page))):
        if ":" not in link:
            yield os.path.normpath(os.path.join(os.path.dirname(page), link))


def collected():
    """README.md, and all that can be reached from it."""
    found, left = set(), ["README.md"]
    while left:
        path = left.pop()
        if path in found or not os.path.exists(os.path.join(ROOT, path)):
            continue  # mkdocs complains of the link
        found.add(path)
        if path.endswith(".md"):
            left += linked(path)
    return sorted(found)


def copy_folder(path, target):
    """A folder becomes a page that lists its files."""
    shutil.copytree(os.path.join(ROOT, path), target)
    names = sorted(os.listdir(target))
    with open(target + ".md", "w", encoding="utf-8") as page:
        page.write(f"# {path}\n\n" + "".join(
            f"- [{name}]({path}/{name})\n" for name in names))


def link_to_page(text, source, folders):
    """Makes links to folders lead to their pages."""
    for folder in folders:
        to = os.path.relpath(folder, os.path.dirname(source) or ".")
        text = re.sub(rf"\]\({re.escape(to)}/?\)", f"]({to}.md)", text)
    return text


def collect(target):
    paths = collected()
    folders = [path for path in paths
               if os.path.isdir(os.path.join(ROOT, path))]
    shutil.rmtree(target, ignore_errors=True)
    for path in paths:
        to = os.path.join(target, path)
        os.makedirs(os.path.dirname(to), exist_ok=True)
        if path in folders:
            copy_folder(path, to)
        elif path.endswith(".md"):
            text = link_to_page(read(path), path, folders)
            with open(to, "w", encoding="utf-8") as page:
                page.write(WORDS.sub(r"\1", text))
        else:
            shutil.copyfile(os.path.join(ROOT, path), to)
    return folders


def navigation(folders):
    """The sections of docs/README.md, in its order. The last one also has the
    pages that other pages link to, and the folders."""
    parts = re.split(r"^## (.*)\n", read("docs/README.md"), flags=re.M)
    nav = [{"gpukit": "README.md"}, {"All pages": "docs/README.md"}]
    for section, body in zip(parts[1::2], parts[2::2]):
        pages = [{name: os.path.normpath(os.path.join("docs", path))}
                 for name, path in NAMED_LINK.findall(body)]
        nav.append({section: pages})
    named = {"README.md", "docs/README.md"}.union(
        *(page.values() for entry in nav[2:] for pages in entry.values()
          for page in pages))
    nav[-1][section] += [
        {os.path.dirname(path): path} for path in collected()
        if path.endswith(".md") and path not in named] + [
        {folder: folder + ".md"} for folder in folders]
    return nav


def slug_of(heading, separator):
    """The anchor that forges generate for a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", separator)


def on_config(config):
    config.nav = navigation(collect(config.docs_dir))
    config.mdx_configs["toc"]["slugify"] = slug_of
    return config


if __name__ == "__main__":
    sys.exit(__doc__)
