# shellcheck shell=bash disable=SC2154  # the variables are those of ./package and of packaging/common.sh
# Sourced by ./package: the npm package, as `npm pack` makes it, without npm.

# pack_npm FOLDER: what its package.json lists, with the license.
pack_npm() {
  local name scratch file
  name=$(node -p '`${require(process.argv[1]).name}-${require(process.argv[1]).version}`' "$1/package.json")
  file=$out/$name.tgz
  scratch=$(mktemp -d)
  mkdir "$scratch/package"
  node -p 'require(process.argv[1]).files.join("\n")' "$1/package.json" |
    (cd "$1" && xargs -d '\n' cp -r --parents -t "$scratch/package" package.json README.md)
  cp "$root/LICENSE" "$scratch/package"
  tar -C "$scratch" --format=ustar --sort=name --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --mtime="@$(age_of_files)" \
    -cf - package | gzip -9n >"$file" || die 'the npm package could not be written'
  rm -rf "$scratch"
  made+=("$file")
}
