#!/usr/bin/env python3
"""list_all.py SOCKET URL [MEMBER...] - asks for all pages of a list of prescient serve at a socket file.
Prints a line for each item: these members of it, or all; then how many pages there were, and how many
of them ended before they had as many items as was asked for. Each page, with its first items, has to
be as /v1/openapi.json says."""
import http.client, json, socket, sys, urllib.parse

from openapi_document import Document

JUDGED = 5                              # items of a page: thousands would take longer than the asking


class Client(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=60)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def ask(client, url):
    client.request("GET", url)
    answer = client.getresponse()
    body = json.loads(answer.read())
    if answer.status != 200:
        sys.exit(f"{url}: {answer.status} {body}")
    return body


def pages(client, url):
    document = Document(ask(client, "/v1/openapi.json"))
    path = urllib.parse.urlsplit(url).path
    after = ""
    for _ in range(10000):
        body = ask(client, url + after)
        misfit = document.misfit_of_get(path, {**body, "items": body["items"][:JUDGED]})
        if misfit:
            sys.exit(f"{url}{after}: {misfit}")
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
