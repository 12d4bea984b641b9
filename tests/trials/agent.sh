#!/bin/sh
# An agent that knows the name of a host, and nothing of the node behind it: all it does to the node
# are the commands of the node's own documents, found by links and run as they stand there.
#
#   agent.sh HOST SOLVE TURN …
#
# It works in the folder where it is started, and has no memory besides. SOLVE is a program that does
# what an agent does in its head: it reads a challenge, and prints the result of each task. The turns are at
# the end. Curl's own settings say where the service that is tried is found.
set -eu
HOST=$1 SOLVE=$2
shift 2

fail() { printf '%s\n' "$*" >&2; exit 1; }

# Find the way from the first page to skill.md.
learn() {
  curl -s -D head.txt -o home.html "http://$HOST/"
  LLMS=$(tr -d '\r' < head.txt | sed -n 's/^[Ll]ink: .*<\([^>]*\)>; rel="describedby".*/\1/p')
  curl -s -o llms.txt "$LLMS"
  curl -s -o skill.md "$(sed -n 's/^- \[skill\.md\](\([^)]*\)).*/\1/p' llms.txt)"
}

# Take the commands below a heading of skill.md, by their place there.
take() {
  awk -v heading="## $1" -v place="${2:-1}" '
    /^## / { within = index($0, heading) == 1; next }
    within && /^```sh$/ { on = ++count == place; next }
    /^```$/ { on = 0 }
    on' skill.md > commands.sh
  test -s commands.sh || fail "skill.md has no commands below $1"
}

# Take a template of skill.md, and fill in what is known; optional lines that are not known go.
fill() {
  awk -v marker="$1" '
    $0 == "```" { on = 0 }
    last == "```text" && $0 == marker { on = 1 }
    { last = $0 }
    on' skill.md > template.txt
  shift
  while IFS= read -r LINE && test "$LINE" != ---; do
    GIVEN=
    for PAIR in "$@"; do
      test "${PAIR%%=*}" != "${LINE%%:*}" || GIVEN="${PAIR%%=*}: ${PAIR#*=}"
    done
    case $GIVEN$LINE in
      *'<optional'* | *'<required'*) test -z "$GIVEN" || printf '%s\n' "$GIVEN" ;;
      *) printf '%s\n' "${GIVEN:-$LINE}" ;;
    esac
  done < template.txt
}

# Begin a session, as skill.md says: the key and the means to post.
session() {
  take '1.' && . ./commands.sh
  take '3.' && . ./commands.sh
}

# Post by the commands taken; print the id.
accepted() {
  . ./commands.sh > accepted.json
  member id < accepted.json | grep . || fail "$(cat accepted.json)"
}

# Ask what waits for the key.
home() {
  take '5.' && . ./commands.sh > home.json
}

# --- turns ---

join() {
  NAME=$1
  learn
  session
  take '2.' 1 && . ./commands.sh > shown.json
  $SOLVE < shown.json > results.txt
  NUMBER=0
  while read -r RESULT; do
    NUMBER=$((NUMBER + 1))
    eval "RESULT_$NUMBER=\$RESULT"
  done < results.txt
  take '2.' 2 && . ./commands.sh > admitted.json
  test "$(member admitted < admitted.json)" = true || fail "$(cat admitted.json)"
  printf '%s\n' "$PUBLIC_KEY"
}

publish() { # SERVICE WWW
  session
  mkdir -p "$2/.well-known"
  printf '%s\n' "$PUBLIC_KEY" > "$2/.well-known/lockzone-trials"
  fill trial-v1 "target=$1/start" 'goal=Place an order.' 'done-when=An order number comes back.' \
    'budget=10 requests, 5 minutes' "owner-proof=$1/.well-known/lockzone-trials" > trial.txt
  take '6.' 1 && . ./commands.sh > preview.json
  test "$(member kind < preview.json)" = trial || fail "$(cat preview.json)"
  take '6.' 2 && accepted
}

report() { # [EARLIER-RUN]
  session
  take '4.' 1 && . ./commands.sh > trials.json
  TRIAL=$(member id < trials.json)
  take '4.' 2 && . ./commands.sh > shown.json
  printf '%b\n' "$(sed -n 's/.*"content":"\([^"]*\)".*/\1/p' shown.json)" > trial.txt
  OWNER_PROOF=$(sed -n 's/^owner-proof: //p' trial.txt)
  take '4.' 3
  SEEN=$(. ./commands.sh)
  OUTCOME=abandoned REQUESTS=0
  if test "$SEEN" = verified; then
    SERVICE=$(sed -n 's,^target: \(.*\)/start$,\1,p' trial.txt)
    START=$(try "$SERVICE/start") ORDER=$(try "$SERVICE/order")
    OUTCOME=completed REQUESTS=2
    test "$ORDER" = 200 || OUTCOME=blocked
  fi
  set -- ${1:+"recheck-of=$1"} "outcome=$OUTCOME" 'runtime=curl in a POSIX shell' \
    "owner-proof=$SEEN" "requests=$REQUESTS"
  test "$OUTCOME" = abandoned || set -- "$@" "step=GET /start -> $START, then /order -> $ORDER"
  test "$OUTCOME" != blocked || set -- "$@" "blocker=$ORDER" blocker-class=docs_wrong
  fill run-v1 "$@" > run.txt
  take '4.' 4 && accepted
}

try() {
  curl -s -A 'shell-agent/1 (a test of refold)' -o answer.txt -w '%{http_code}' "$1"
}

answer() { # RUN VERSION
  session
  RUN=$1
  fill disposition-v1 status=fixed "version=$2" > disposition.txt
  take '6.' 3 && accepted
}

waiting() {
  session
  home
  cat home.json
}

"$@"
