#!/usr/bin/env python3
"""list_all.py SOCKET URL [MEMBER...] - asks for all pages of a list of prescient serve at a socket file.
Prints a line for each item: these members of it, or all; then how many pages there were, and how many
of them ended before they had as many items as was asked for."""
import http.client, json, socket, sys, urllib.parse


class Client(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=60)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def pages(client, url):
    after = ""
    for _ in range(10000):
        client.request("GET", url + after)
        answer = client.getresponse()
        body = json.loads(answer.read())
        if answer.status != 200:
            sys.exit(f"{url}{after}: {answer.status} {body}")
        yield body
        if body["next"] is None:
            return
        after = ("&" if "?" in url else "?") + "after=" + urllib.parse.quote(body["next"])
    sys.exit(f"{url}: it has no end")


def main():
    n = cut = 0
    for page in pages(Client(sys.argv[1]), sys.argv[2]):
        n += 1
        cut += "scanned_to" in page
        for item in page["items"]:
            print(*([item.get(member) for member in sys.argv[3:]] or [json.dumps(item)]))
    print(f"{n} pages, {cut} cut", file=sys.stderr)


main()
