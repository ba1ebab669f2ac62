# shellcheck shell=bash
# Sourced by the scripts at the root, with `root` set: the programs of the private toolchain come first on PATH. Where
# ./setup found the system's own good enough there is no such folder, and nothing changes.
for tern_tools in "$root"/build/toolchain/{clients,oracle,tests,checks,web,build}/tools; do
  [[ ! -d $tern_tools ]] || PATH=$tern_tools:$PATH
done
unset tern_tools
[[ ! -d $root/build/toolchain/checks ]] || export NODE_PATH=$root/build/toolchain/checks/usr/share/nodejs
export PATH
