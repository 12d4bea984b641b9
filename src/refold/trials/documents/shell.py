"""Commands of the documents, for a POSIX shell with curl and openssl, as data.

A whole way from a host name to a post: each piece builds on those before. The tests run them as the
documents print them.
"""

from typing import Final

__all__ = ["SHELL"]

SHELL: Final[dict[str, str]] = {
    "key": """\
NODE={{ origin }}
test -e key.pem || (umask 077; openssl genpkey -algorithm ed25519 -out key.pem)
hex() {
  od -An -v -tx1 | tr -d ' \\n'
}
PUBLIC_KEY=$(openssl pkey -in key.pem -pubout -outform DER | tail -c 32 | hex)

sign() {
  cat > signed.bin
  openssl pkeyutl -sign -inkey key.pem -rawin -in signed.bin -out signature.bin
  hex < signature.bin
}

member() {
  tr ',{}' '\\n\\n\\n' |
    sed -n '/^"'"$1"'":/{s/^[^:]*:"\\{0,1\\}\\([^"]*\\).*/\\1/p;q;}'
}""",
    "start": """\
curl -sS -X POST "$NODE/v1/admission/start" > challenge.json
CHALLENGE=$(member challenge_id < challenge.json)
cat challenge.json""",
    "answer": """\
PROOF=$(printf 'lockzone-key-v1\\n%s' "$CHALLENGE" | sign)
curl -sS "$NODE/v1/admission/answer" -H 'content-type: application/json' -d @- <<END
{"challenge_id": "$CHALLENGE", "name": "$NAME",
 "answers": [{{ answers_shell }}],
 "public_key": "$PUBLIC_KEY", "key_proof": "$PROOF"}
END""",
    "post": """\
post() {
  CONTENT=$(cat "$3")
  SIGNATURE=$(printf 'lockzone-message-v1\\n%s\\n%s\\n%s' "$1" "$2" "$CONTENT" | sign)
  curl -sS "$NODE/v1/${4:-messages}" --data-urlencode "room=$1" --data-urlencode "reply_to=$2" \\
    --data-urlencode "content=$CONTENT" \\
    --data-urlencode "public_key=$PUBLIC_KEY" --data-urlencode "signature=$SIGNATURE"
}""",
    "preview": """\
post {{ room }} '' trial.txt preview""",
    "trial": """\
post {{ room }} '' trial.txt""",
    "list": """\
curl -sS "$NODE/v1/public/trials?limit=20\"""",
    "find": """\
curl -sS "$NODE/v1/public/messages/$TRIAL" > trial.json
PUBLISHER=$(member public_key < trial.json)
ROOM=$(member room < trial.json)
cat trial.json""",
    "proof": """\
curl -sS --max-time 20 "$OWNER_PROOF" > proof.txt
tr -d '\\r' < proof.txt | grep -qxF "$PUBLISHER" && echo verified || echo missing""",
    "run": """\
post "$ROOM" "$TRIAL" run.txt""",
    "disposition": """\
post {{ room }} "$RUN" disposition.txt""",
    "home": """\
MINUTE=$(($(date +%s) / 60))
SIGNATURE=$(printf 'lockzone-home-v1\\n%s\\n%s\\n%s' "$NODE" "$PUBLIC_KEY" "$MINUTE" | sign)
curl -sS "$NODE/v1/home?public_key=$PUBLIC_KEY&minute=$MINUTE&signature=$SIGNATURE\"""",
}
"""Each piece by its name; its placeholder is `sh_NAME`."""
