"""What packaging/ writes from templates and from an archive: manifests of package managers, and the bill of materials."""

import gzip
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
RELEASES = "https://host.example/tern/releases"
VERSION = "9.8.7"
FILES = [f"tern-{VERSION}-{end}" for end in
         ("linux-x86_64.tar.xz", "linux-arm64.tar.xz", "macos-arm64.tar.xz", "windows-x86_64.zip")]
WINDOWS = ["TernDevelopers.Tern.installer.yaml", "TernDevelopers.Tern.locale.en-US.yaml", "TernDevelopers.Tern.yaml", "tern.json"]


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def read_yaml(text):
    """The values of a manifest by their keys. Of YAML, this knows what the templates use, and nothing else passes."""
    values = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        match = re.fullmatch(r"(?:  )?(?:- |  )?([A-Za-z0-9]+):(?: (?:\"([^\"\\]*)\"|([A-Za-z0-9][^#\"'{}\[\]]*)))?|  - [a-z-]+", line)
        assert match, f"no line of a manifest: {line!r}"
        if match[1]:
            assert match[1] not in values, f"{match[1]} twice"
            values[match[1]] = match[2] or match[3]
    return values


class InScratchFolder(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)


class Manifests(InScratchFolder):
    def render(self, *options, files=FILES):
        for name in files:
            (self.folder / name).write_text(f"bytes of {name}")
        environment = os.environ | {"TERN_RELEASES": RELEASES, "SOURCE_DATE_EPOCH": "1790000000"}
        environment.pop("TERN_HOMEPAGE", None)
        return subprocess.run([ROOT / "packaging/render_manifests", *options, VERSION, self.folder],
                              env=environment, capture_output=True, text=True)

    def written(self):
        return sorted(path.name for path in self.folder.iterdir() if path.name not in FILES)

    def text(self, name):
        text = (self.folder / name).read_text()
        self.assertNotRegex(text, "@[A-Z]")
        return text

    def sum_of(self, end):
        return sha256(self.folder / f"tern-{VERSION}-{end}")

    def address(self, end):
        return f"{RELEASES}/download/v{VERSION}/tern-{VERSION}-{end}"

    def check_ruby(self):
        if ruby := shutil.which("ruby"):
            subprocess.run([ruby, "-c", self.folder / "tern.rb"], check=True, capture_output=True)
        formula = self.text("tern.rb")
        begun = re.findall(r"^ *(?:class|def)\b|\bdo$", formula, re.MULTILINE)
        self.assertEqual(len(begun), len(re.findall(r"^ *end$", formula, re.MULTILINE)))
        return formula

    def test_whole(self):
        result = self.render()
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(self.written(), WINDOWS + ["tern.rb"])
        formula = self.check_ruby()
        self.assertIn(f'version "{VERSION}"', formula)
        self.assertIn('homepage "https://host.example/tern"', formula)
        self.assertNotIn("depends_on :linux", formula)
        self.assertEqual(re.findall(r'url "(.*)"\n *sha256 "(.*)"', formula),
                         [(self.address(end), self.sum_of(end))
                          for end in ("macos-arm64.tar.xz", "linux-x86_64.tar.xz", "linux-arm64.tar.xz")])

        scoop = json.loads(self.text("tern.json"))
        self.assertEqual(scoop["version"], VERSION)
        self.assertEqual(scoop["architecture"]["64bit"],
                         {"url": self.address("windows-x86_64.zip"), "hash": self.sum_of("windows-x86_64.zip"),
                          "extract_dir": f"tern-{VERSION}-windows-x86_64"})
        sums_line = re.search(scoop["checkver"]["regex"], f"{'0' * 64}  {FILES[3]}")
        self.assertEqual(sums_line[1], VERSION)
        self.assertEqual(scoop["autoupdate"]["architecture"]["64bit"]["url"].replace("$version", VERSION),
                         scoop["architecture"]["64bit"]["url"])

        winget = [read_yaml(self.text(name)) for name in WINDOWS[:3]]
        for manifest, kind in zip(winget, ("installer", "defaultLocale", "version")):
            self.assertEqual((manifest["PackageIdentifier"], manifest["PackageVersion"], manifest["ManifestType"]),
                             ("TernDevelopers.Tern", VERSION, kind))
        self.assertEqual(winget[0]["InstallerUrl"], self.address("windows-x86_64.zip"))
        self.assertEqual(winget[0]["InstallerSha256"], self.sum_of("windows-x86_64.zip"))
        self.assertEqual(winget[0]["ReleaseDate"], "2026-09-21")
        self.assertEqual(winget[0]["RelativeFilePath"], rf"tern-{VERSION}-windows-x86_64\bin\tern.exe")

    def test_each_missing_file_is_named(self):
        for missing in FILES:
            (self.folder / missing).unlink(missing_ok=True)
            result = self.render(files=[name for name in FILES if name != missing])
            self.assertEqual(result.returncode, 1)
            self.assertRegex(result.stderr, f"^render_manifests: .* needs {re.escape(missing)}, which is not in .*--partial\n$")

    def test_linux_alone(self):
        (self.folder / "tern.json").write_text("of an earlier version")
        result = self.render("--partial", files=FILES[:1])
        self.assertEqual(result.returncode, 0)
        self.assertEqual(self.written(), ["tern.rb"])
        for name in WINDOWS:
            self.assertIn(f"left out {name}: it needs {FILES[3]}", result.stderr)
        formula = self.check_ruby()
        self.assertIn("depends_on :linux", formula)
        self.assertIn("depends_on arch: :x86_64", formula)
        self.assertEqual(re.findall(r'sha256 "(.*)"', formula), [self.sum_of("linux-x86_64.tar.xz")])

    def test_another_version_does_not_count(self):
        result = self.render("--partial", files=[name.replace(VERSION, "9.8.6") for name in FILES])
        self.assertEqual(result.returncode, 0)
        self.assertEqual([name for name in self.written() if "9.8.6" not in name], [])


class BillOfMaterials(InScratchFolder):
    COPYRIGHTS = {
        "libc6": "Format: x\n\nFiles: *\nCopyright: x\nLicense: LGPL-2.1+\n\n"
                "Files: a\nLicense: Expat\n\nFiles: b\nLicense: LGPL-2.1+\n\nFiles: debian/*\nLicense: GPL-3+\n\nLicense: GPL-2\n",
        "libfoo2t64": "Format: x\n\nFiles: *\nCopyright: x\nLicense: Foo \"and\" bar\n",
        "libprose1": "This package was made by hand.\n",
        "headers-dev": "Format: x\n\nFiles: *\nCopyright: x\nLicense: Expat\n",
    }

    def setUp(self):
        super().setUp()
        top = self.folder / "top"
        for name in ("lib/libc.so.6", "lib/libm.so.6", "lib/libfoo.so.2", "libexec/tern-program", "share/tern/models/tern-stories.gguf"):
            (top / name).parent.mkdir(parents=True, exist_ok=True)
            (top / name).write_text(f"bytes of {name}")
        for package, copyright_text in self.COPYRIGHTS.items():
            folder = self.folder / "usr/share/doc" / package
            folder.mkdir(parents=True)
            (folder / "copyright").write_text(copyright_text)
            with gzip.open(folder / "changelog.Debian.gz", "wt") as changelog:
                changelog.write(f"{package}-source (1:2.3+dfsg-4+b5) unstable; urgency=low\n\n  * x\n")
            licenses = top / "share/doc/tern/licenses"
            licenses.mkdir(parents=True, exist_ok=True)
            (licenses / f"{package}.txt").write_text(copyright_text)
        (top / "share/tern/web/vendor/set-it-1.2.3").mkdir(parents=True)
        (top / "share/tern/web/vendor/set-it-1.2.3/set.js").write_text("x")
        (self.folder / "a.tar.xz").write_text("an archive")

    def write(self):
        script = """set -euo pipefail
            die() { echo "$*" >&2; exit 1; }
            made=() compiled_in=(headers-dev) epoch=1790000000 version=9.8.7 debian_architecture=arm64
            system_root=$1 root=$2
            . "$root/packaging/common.sh"; . "$root/packaging/sbom.sh"
            write_sbom "$system_root/top" "$system_root/a.tar.xz"; printf '%s' "${made[@]}" """
        return subprocess.run(["bash", "-c", script, "-", self.folder, ROOT], capture_output=True, text=True)

    def test_lists_what_is_there(self):
        result = self.write()
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, f"{self.folder}/a.cdx.json", ""))
        bill = json.loads((self.folder / "a.cdx.json").read_text())
        self.assertEqual((bill["bomFormat"], bill["specVersion"]), ("CycloneDX", "1.6"))
        self.assertEqual(bill["metadata"]["component"]["hashes"][0]["content"], sha256(self.folder / "a.tar.xz"))
        self.assertEqual(bill["metadata"]["timestamp"], "2026-09-21T14:13:20Z")
        parts = {part["name"]: part for part in bill["components"]}
        listed = [(file["name"], file["hashes"][0]["content"]) for part in bill["components"] for file in part["components"]]
        for name, content in listed:
            self.assertEqual(content, sha256(self.folder / "top" / name))
        self.assertEqual(sorted(name for name, _ in listed if name.startswith("lib/")),
                         ["lib/libc.so.6", "lib/libfoo.so.2", "lib/libm.so.6"])
        self.assertEqual([file["name"] for file in parts["libc6"]["components"]], ["lib/libc.so.6", "lib/libm.so.6"])
        self.assertEqual([file["name"] for file in parts["headers-dev"]["components"]], ["libexec/tern-program"])
        self.assertNotIn("libprose1", parts)
        licenses = {name: [each["license"] for each in part["licenses"]] for name, part in parts.items()}
        self.assertEqual(licenses["libc6"], [{"id": "LGPL-2.1-or-later"}, {"id": "MIT"}])
        self.assertEqual(licenses["headers-dev"], [{"id": "MIT"}])
        self.assertEqual(licenses["libfoo2t64"], [{"name": 'Foo "and" bar'}])
        self.assertEqual((parts["set-it"]["version"], parts["set-it"]["purl"]), ("1.2.3", "pkg:npm/set-it@1.2.3"))
        self.assertEqual([file["name"] for file in parts["set-it"]["components"]],
                         ["share/tern/web/vendor/set-it-1.2.3/set.js"])
        self.assertEqual(parts["libc6"]["version"], "1:2.3+dfsg-4+b5")
        self.assertEqual(parts["libc6"]["purl"], "pkg:deb/debian/libc6@1%3A2.3%2Bdfsg-4%2Bb5?arch=arm64")
        self.assertEqual(parts["libc6"]["externalReferences"][0]["url"],
                         "https://sources.debian.org/src/libc6-source/1%3A2.3%2Bdfsg-4/")

    def test_prose_is_named(self):
        (self.folder / "top/lib/libprose.so.1").write_text("x")
        self.assertEqual(self.write().returncode, 0)
        bill = json.loads((self.folder / "a.cdx.json").read_text())
        [part] = [part for part in bill["components"] if part["name"] == "libprose1"]
        self.assertEqual(part["licenses"], [{"license": {"name": "see share/doc/tern/licenses/libprose1.txt"}}])

    def test_a_library_of_no_package_is_refused(self):
        (self.folder / "top/lib/libstray.so.1").write_text("x")
        result = self.write()
        self.assertEqual(result.returncode, 1)
        self.assertIn("libstray.so.1", result.stderr)
        self.assertFalse((self.folder / "a.cdx.json").exists())


if __name__ == "__main__":
    unittest.main()
