# What the checks of an installation begin with, to be sourced: `install_and_move [cuda]` installs into a folder that goes
# with the script, $work, moves the tree to $prefix, and holds that nothing in it has the path that it came from.
# `shows_only_kvl LIBRARY` holds that a shared library of it has no other symbols for others.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/moved

install_and_move() {
  ffi/install.sh "$work/made" "$@" > /dev/null
  mv "$work/made" "$prefix"
  if grep -rIl "$work/made" "$prefix"; then
    echo "$0: these have the path that they were installed to" >&2
    return 1
  fi
}

shows_only_kvl() {
  local shown
  shown=$(nm -D --defined-only "$prefix/lib/$1" | awk '{print $3}')
  [[ $shown == *kvl_* ]] || { echo "$0: $1 shows nothing" >&2; return 1; }
  if grep -v '^kvl_' <<< "$shown"; then
    echo "$0: $1 shows these besides kvl_*" >&2
    return 1
  fi
}
