#!/usr/bin/env python3
"""A small, stateful, schema-checked stand-in for GitHub's REST API.

Why it can be trusted: every request is checked against GitHub's own published
description (github-openapi-slice.json: a part of npm @octokit/openapi 23.0.2,
MIT license, text in THIRD_PARTY.md beside this file) before it is
carried out, and every answer is checked against the same description before it
is sent. A request GitHub would refuse is refused here with GitHub's status and
wording; an answer that is not schema-valid is a bug of this file and becomes a
500. Both are kept in `violations`, so a test ends with `assert not gh.violations`.

What the description does not say but the service does is coded by hand below
and marked `REAL:` (length limits, permission errors, fast-forward rule, the
signed artifact address that refuses an Authorization header, ...).

In a test (needs `jsonschema` only):

    from fake_github import FakeGitHub
    with FakeGitHub(repo="octo/agent") as gh:
        gh.add_pull(7, head_sha="a" * 40, base_sha="b" * 40)
        gh.permissions["checks"] = "read"            # -> 403 for check runs
        gh.fail("POST", r"/issues/7/comments$", status=502, times=1)
        run_the_action(api_url=gh.url, token=gh.token)
        assert len(gh.comments) == 1 and not gh.violations

By hand or beside a container:

    python3 tests/fakes/fake_github.py --port 8930 --host 127.0.0.1 --pull 7 --state state.json

`--state FILE` is rewritten after every request; GET /_state returns the same.
"""

# ruff: noqa: N815, PLR0912
from __future__ import annotations

import argparse
import base64
import copy
import hashlib
import io
import json
import re
import threading
import urllib.parse
import zipfile
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import jsonschema

SLICE = Path(__file__).resolve().parent / "github-openapi-slice.json"
DOCS = "https://docs.github.com/rest"
# which GITHUB_TOKEN permission each part of the API asks for
SCOPES = [
    (r"/issues/", "issues"),
    (r"/check-runs", "checks"),
    (r"/status(es)?(/|$)", "statuses"),
    (r"/pulls(/|$)", "pull-requests"),
    (r"/actions/", "actions"),
    (r"/(git|contents|commits|compare|branches)/", "contents"),
]


class Refused(Exception):
    def __init__(self, status, message, errors=None, headers=None):
        self.status, self.headers = status, headers or {}
        self.body = {"message": message, "documentation_url": DOCS, "status": str(status)}
        if errors:
            self.body["errors"] = errors
        super().__init__(message)


def now():
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def invalid(resource, field, message, code="custom"):
    return Refused(422, "Validation Failed", [{"resource": resource, "code": code, "field": field, "message": message}])


class FakeGitHub:
    def __init__(
        self,
        repo="octo/agent",
        token="ghs_fake",
        login="github-actions[bot]",
        host="127.0.0.1",
        port=0,
        prefix="",
        slice_path=SLICE,
        state_file=None,
        visible_host=None,
    ):
        spec = json.loads(Path(slice_path).read_text(encoding="utf-8"))
        self.defs, self.operations = spec["$defs"], []
        for op in spec["operations"]:
            pattern = re.escape(op["path"])
            # REAL: {ref} and {path} may hold slashes; the description cannot say so
            pattern = pattern.replace(r"\{ref\}", "(?P<ref>.+?)").replace(r"\{path\}", "(?P<path>.+)")
            pattern = re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[^/]+)", pattern)
            self.operations.append((op["method"], re.compile(pattern + "$"), op))
        self.repo, self.token, self.login, self.prefix = repo, token, login, prefix
        self.permissions = dict.fromkeys(("actions", "checks", "contents", "issues", "pull-requests", "statuses"), "write")
        self.comments, self.pulls, self.check_runs, self.artifacts, self.runs = {}, {}, {}, {}, {}
        self.annotations, self.statuses, self.objects, self.refs, self.labels = {}, {}, {}, {}, {}
        self.merge_bases, self.files, self.roles, self.minimized = {}, {}, {}, []
        self.log, self.violations, self.faults = [], [], []
        self._id, self._lock, self._state_file = 1000, threading.RLock(), state_file
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # head and body are two writes; without this each answer waits for 40 ms

            def log_message(self, *_):
                pass

            def _serve(self):
                outer._serve(self)

            do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _serve

        self._server = ThreadingHTTPServer((host, port), Handler)
        self._server.daemon_threads = True
        self.host, self.port = visible_host or host, self._server.server_address[1]
        self.url = f"http://{self.host}:{self.port}{prefix}"
        empty = self._store("tree", [])
        self.refs["heads/main"] = self._commit("first", empty, [])["sha"]

    # ---------------------------------------------------------------- running
    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()

    def state(self):
        return {
            "comments": self.comments,
            "check_runs": self.check_runs,
            "annotations": self.annotations,
            "statuses": self.statuses,
            "labels": self.labels,
            "refs": self.refs,
            "minimized": self.minimized,
            "log": self.log,
            "violations": self.violations,
        }

    # ------------------------------------------------------- what tests set up
    def fail(self, method, path, status=502, times=1, headers=None, body=None, drop=False, after=False):
        """Make the next `times` matching requests fail; drop=True cuts the connection,
        after=True first carries the request out (the answer is lost, the change stays)."""
        self.faults.append(
            {
                "method": method,
                "path": re.compile(path),
                "status": status,
                "times": times,
                "headers": headers or {},
                "drop": drop,
                "after": after,
                "body": body or {"message": "Server Error", "documentation_url": DOCS},
            }
        )

    def secondary_limit(self, method, path, times=1, retry_after="1"):
        self.fail(
            method,
            path,
            403,
            times,
            {"Retry-After": retry_after} if retry_after else {},
            {
                "message": "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.",
                "documentation_url": DOCS,
            },
        )

    def add_pull(
        self,
        number,
        head_sha,
        base_sha,
        head_ref="feature",
        base_ref="main",
        head_repo=None,
        state="open",
        title="A change",
        merged=False,
    ):
        pull = self._template("pulls/get")
        pull.update(
            number=number,
            state=state,
            title=title,
            merged=merged,
            requested_teams=[],
            url=f"{self._api}/pulls/{number}",
            issue_url=f"{self._api}/issues/{number}",
        )
        owner = (head_repo or self.repo).split("/")[0]
        pull["head"].update(sha=head_sha, ref=head_ref, label=f"{owner}:{head_ref}")
        pull["base"].update(sha=base_sha, ref=base_ref, label=f"{self.repo.split('/')[0]}:{base_ref}")
        pull["head"]["repo"]["full_name"] = head_repo or self.repo
        self.pulls[number] = pull
        return pull

    def add_comment(self, number, body, login="someone", user_type="User", created=None):
        comment = self._template("issues/create-comment", "201")
        ident = self._next()
        comment.update(
            id=ident,
            node_id=f"IC_{ident}",
            body=body,
            created_at=created or now(),
            updated_at=created or now(),
            url=f"{self._api}/issues/comments/{ident}",
            issue_url=f"{self._api}/issues/{number}",
            html_url=f"https://github.com/{self.repo}/pull/{number}#issuecomment-{ident}",
        )
        comment["user"].update(login=login, type=user_type)
        self.comments[ident] = comment
        return comment

    def add_run(
        self,
        run_id,
        head_sha,
        head_branch="feature",
        event="pull_request",
        head_repo=None,
        conclusion="success",
        pull_requests=(),
    ):
        run = self._template("actions/get-workflow-run")
        run.update(
            id=run_id,
            head_sha=head_sha,
            head_branch=head_branch,
            event=event,
            status="completed",
            conclusion=conclusion,
            pull_requests=list(pull_requests),
            url=f"{self._api}/actions/runs/{run_id}",
            artifacts_url=f"{self._api}/actions/runs/{run_id}/artifacts",
        )
        run["head_repository"]["full_name"] = head_repo or self.repo
        run["head_repository"]["owner"]["login"] = (head_repo or self.repo).split("/")[0]
        self.runs[run_id] = run
        return run

    def add_artifact(self, run_id, name, files, expired=False):
        """files: {name: bytes}. Served as a zip from a signed address."""
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for path, data in files.items():
                archive.writestr(path, data)
        ident = self._next()
        item = copy.deepcopy(self._template("actions/list-workflow-run-artifacts")["artifacts"][0])
        item.update(
            id=ident,
            name=name,
            expired=expired,
            size_in_bytes=len(buffer.getvalue()),
            url=f"{self._api}/actions/artifacts/{ident}",
            archive_download_url=f"{self._api}/actions/artifacts/{ident}/zip",
        )
        item["workflow_run"]["id"] = run_id
        self.artifacts[ident] = {"json": item, "zip": buffer.getvalue()}
        return item

    # ---------------------------------------------------------------- plumbing
    @property
    def _api(self):
        return f"{self.url}/repos/{self.repo}"

    def _next(self):
        self._id += 1
        return self._id

    def _template(self, op_id, code="200"):
        op = next(op for _, _, op in self.operations if op["id"] == op_id)
        text = json.dumps(op["responses"][code]["example"])
        text = text.replace("https://api.github.com", self.url).replace("octocat/Hello-World", self.repo)
        return json.loads(text)

    def _errors(self, schema, value):
        checker = jsonschema.Draft202012Validator({**schema, "$defs": self.defs})
        return [f"{'/'.join(map(str, e.absolute_path)) or '(top)'}: {e.message[:160]}" for e in checker.iter_errors(value)]

    def _serve(self, http):
        length = int(http.headers.get("Content-Length") or 0)
        raw = http.rfile.read(length) if length else b""
        parsed = urllib.parse.urlsplit(http.path)
        path, query = urllib.parse.unquote(parsed.path), dict(urllib.parse.parse_qsl(parsed.query))
        headers, drop = {}, False
        with self._lock:
            try:
                if path == "/_state":
                    return self._send(http, 200, self.state())
                if path.startswith("/_blob/"):
                    # REAL: the signed storage address answers an error when a token is sent along
                    if http.headers.get("Authorization"):
                        return self._send(http, 401, {"message": "InvalidAuthenticationInfo"})
                    return self._send(http, 200, self.artifacts[int(path.rsplit("/", 1)[1])]["zip"], {}, "application/zip")
                path = path.removeprefix(self.prefix)
                fault = next(
                    (f for f in self.faults if f["times"] > 0 and f["method"] == http.command and f["path"].search(path)), None
                )
                if fault:
                    fault["times"] -= 1
                if fault and not fault["after"]:
                    status, body, headers, drop = fault["status"], fault["body"], fault["headers"], fault["drop"]
                else:
                    status, body, headers = self._answer(http, path, query, raw)
                    if fault:
                        status, body, headers, drop = fault["status"], fault["body"], fault["headers"], True
            except Refused as refusal:
                status, body, headers = refusal.status, refusal.body, refusal.headers
            self.log.append(
                {
                    "method": http.command,
                    "path": path,
                    "query": query,
                    "status": status,
                    "body": json.loads(raw) if raw[:1] in (b"{", b"[") else None,
                }
            )
            if self._state_file:
                Path(self._state_file).write_text(json.dumps(self.state(), indent=1), encoding="utf-8")
        if drop:
            http.close_connection = True
            http.connection.close()
            return None
        self._send(http, status, body, headers)
        return None

    def _send(self, http, status, body, headers=None, kind="application/json; charset=utf-8"):
        data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        http.send_response(status)
        for name, value in {
            "Content-Type": kind,
            "Content-Length": str(len(data)),
            "X-RateLimit-Limit": "1000",
            "X-RateLimit-Remaining": str(max(0, 1000 - len(self.log))),
            "X-RateLimit-Reset": "4102444800",
            **(headers or {}),
        }.items():
            http.send_header(name, value)
        http.end_headers()
        http.wfile.write(data)

    def _answer(self, http, path, query, raw):
        method = http.command
        auth = (http.headers.get("Authorization") or "").split(" ", 1)
        if len(auth) < 2 or auth[1] != self.token:
            raise Refused(401, "Bad credentials")
        if path in ("/graphql", "/api/graphql") and b"viewer" in raw:
            return 200, {"data": {"viewer": {"login": self.login}}}, {}
        if path in ("/graphql", "/api/graphql") and b"minimizeComment" in raw:
            variables = json.loads(raw).get("variables", {})
            self.minimized.append(variables.get("input", variables))
            return 200, {"data": {"minimizeComment": {"minimizedComment": {"isMinimized": True}}}}, {}
        found = [(op, m) for verb, pattern, op in self.operations if verb == method and (m := pattern.match(path))]
        if not found:
            self.violations.append(f"{method} {path}: not an operation of the description slice")
            raise Refused(404, "Not Found")
        op, match = max(found, key=lambda pair: len(pair[0]["path"]))  # the one with most literal text
        args = match.groupdict()
        if "owner" in args and f"{args['owner']}/{args['repo']}" != self.repo:
            raise Refused(404, "Not Found")
        for param in op["params"]:
            value = args.get(param["name"]) if param["in"] == "path" else query.get(param["name"])
            if value is None:
                continue
            if param["schema"].get("type") == "integer":
                value = int(value) if value.lstrip("-").isdigit() else value
            problems = self._errors(param["schema"], value)
            if problems:
                self.violations.append(f"{method} {path}: parameter {param['name']}: {problems[0]}")
        for name in set(query) - {p["name"] for p in op["params"] if p["in"] == "query"}:
            self.violations.append(f"{method} {path}: unknown query parameter {name}")
        scope = next((s for pattern, s in SCOPES if re.search(pattern, path)), None)
        self._permit(method, scope)
        body = None
        if "body" in op:
            try:
                body = json.loads(raw or b"null")
            except ValueError:
                raise Refused(400, "Problems parsing JSON") from None
            if op["id"] == "issues/add-labels" and isinstance(body, list):
                body = {"labels": body}  # REAL: the bare list is taken too (said in prose only); PyGithub sends it
            if body is not None or op["body"]["required"]:
                problems = self._errors(op["body"]["schema"], body)
                known = op["body"]["schema"].get("properties")
                if known and isinstance(body, dict):
                    # REAL: the service refuses keys it does not know on these endpoints
                    problems += [f'"{key}" is not a permitted key.' for key in set(body) - set(known)]
                if problems:
                    self.violations.append(f"{method} {path}: request body {problems}")
                    raise Refused(422, "Invalid request.\n\n" + "\n".join(problems))
        handler = getattr(self, "do_" + re.sub(r"\W", "_", op["id"]), None)
        if handler is None:
            self.violations.append(f"{method} {path}: the fake has no handler for {op['id']} yet")
            raise Refused(501, f"fake_github has no handler for {op['id']}")
        status, answer, *rest = handler(args, query, body)
        headers = rest[0] if rest else {}
        entry = op["responses"].get(str(status))
        problems = (
            [f"status {status} is not in the description"]
            if entry is None
            else self._errors(entry["schema"], answer)
            if "schema" in entry and answer is not None
            else []
        )
        if problems:
            self.violations.append(f"{method} {path}: the fake's own answer: {problems[:3]}")
            raise Refused(500, "fake_github answered out of schema: " + "; ".join(problems[:3]))
        return status, answer, headers

    def _permit(self, method, scope):
        have = self.permissions.get(scope, "none") if scope else "read"
        if scope == "issues" and "write" in (have, self.permissions.get("pull-requests")):
            have = "write"  # REAL: either permission opens the comments of a pull request
        if have == "none" or (method != "GET" and have != "write"):
            need = f"{scope.replace('-', '_')}={'read' if method == 'GET' else 'write'}"
            raise Refused(403, "Resource not accessible by integration", headers={"X-Accepted-GitHub-Permissions": need})

    def _page(self, items, query, path, wrap=None):
        size, page = min(int(query.get("per_page", 30)), 100), int(query.get("page", 1))
        last = max(1, -(-len(items) // size))
        keep = {k: v for k, v in query.items() if k != "page"}
        links = []
        if page < last:
            for rel, number in (("next", page + 1), ("last", last)):
                links.append(f'<{self.url}{path}?{urllib.parse.urlencode({**keep, "page": number})}>; rel="{rel}"')
        cut = items[(page - 1) * size : page * size]
        return 200, ({"total_count": len(items), wrap: cut} if wrap else cut), {"Link": ", ".join(links)} if links else {}

    def _get(self, table, key):
        if key not in table:
            raise Refused(404, "Not Found")
        return table[key]

    # ---------------------------------------------------------------- general
    def do_users_get_authenticated(self, args, query, body):
        # REAL: the token of a workflow run belongs to an app and cannot read /user
        raise Refused(403, "Resource not accessible by integration")

    def do_rate_limit_get(self, args, query, body):
        return 200, self._template("rate-limit/get")

    def do_repos_get(self, args, query, body):
        repo = self._template("repos/get")
        repo.update(language=None, url=self._api, full_name=self.repo, default_branch="main")
        for name in ("source", "parent"):
            repo.pop(name, None)
        return 200, repo

    # --------------------------------------------------------------- comments
    def _check_comment(self, body):
        # REAL: the error text says characters; measured reports differ (see github.md), so refuse the smaller
        if len(body) > 65536:
            raise invalid("IssueComment", "data", "Body is too long (maximum is 65536 characters)", "unprocessable")
        if not body.strip():
            raise invalid("IssueComment", "data", "Body cannot be blank", "unprocessable")

    def _pull_comments(self, number):
        return [c for c in self.comments.values() if c["issue_url"].endswith(f"/issues/{number}")]

    def do_issues_list_comments(self, args, query, body):
        number = int(args["issue_number"])
        return self._page(self._pull_comments(number), query, f"/repos/{self.repo}/issues/{number}/comments")

    def do_issues_create_comment(self, args, query, body):
        number = int(args["issue_number"])
        self._get(self.pulls, number)
        self._check_comment(body["body"])
        return 201, self.add_comment(number, body["body"], self.login, "Bot")

    def do_issues_get_comment(self, args, query, body):
        return 200, self._get(self.comments, int(args["comment_id"]))

    def do_issues_update_comment(self, args, query, body):
        comment = self._get(self.comments, int(args["comment_id"]))
        self._check_comment(body["body"])
        comment.update(body=body["body"], updated_at=now())
        return 200, comment

    def do_issues_delete_comment(self, args, query, body):
        self._get(self.comments, int(args["comment_id"]))
        del self.comments[int(args["comment_id"])]
        return 204, None

    def do_issues_get(self, args, query, body):
        number = int(args["issue_number"])
        pull = self._get(self.pulls, number)
        return 200, {
            "id": number,
            "node_id": f"I_{number}",
            "number": number,
            "title": pull["title"],
            "body": None,
            "state": pull["state"],
            "user": pull["user"],
            "labels": [],
            "assignee": None,
            "milestone": None,
            "locked": False,
            "comments": len(self._pull_comments(number)),
            "closed_at": None,
            "created_at": pull["created_at"],
            "updated_at": pull["updated_at"],
            "html_url": pull["html_url"],
            "author_association": "CONTRIBUTOR",
            "url": pull["issue_url"],
            "repository_url": self._api,
            "labels_url": pull["issue_url"] + "/labels{/name}",
            "comments_url": pull["issue_url"] + "/comments",
            "events_url": pull["issue_url"] + "/events",
            "pull_request": {
                "url": pull["url"],
                "html_url": pull["html_url"],
                "diff_url": pull["diff_url"],
                "patch_url": pull["patch_url"],
            },
        }

    # ------------------------------------------------------- checks, statuses
    def _check_output(self, output):
        for field in ("summary", "text"):
            # REAL: counted in bytes of UTF-8 although the description says characters
            if len((output.get(field) or "").encode()) > 65535:
                raise invalid("CheckRun", field, f"{field} exceeds a maximum bytesize of 65535")
        for note in output.get("annotations") or []:
            if len(note.get("title", "")) > 255:
                raise invalid("CheckAnnotation", "title", "title is too long (maximum is 255 characters)")
            if len(note["message"].encode()) > 65536 or len(note.get("raw_details", "").encode()) > 65536:
                raise invalid("CheckAnnotation", "message", "message exceeds a maximum bytesize of 65536")

    def _apply_check(self, run, body):
        output = dict(body.get("output") or {})
        self._check_output(output)
        self.annotations.setdefault(run["id"], []).extend(output.pop("annotations", None) or [])
        output.pop("images", None)
        run["output"].update(
            output,
            annotations_count=len(self.annotations[run["id"]]),
            annotations_url=f"{self._api}/check-runs/{run['id']}/annotations",
        )
        for key in ("name", "head_sha", "details_url", "external_id", "status", "conclusion", "started_at", "completed_at"):
            if key in body:
                run[key] = body[key]
        if body.get("conclusion"):
            run["status"], run["completed_at"] = "completed", run.get("completed_at") or now()
        return run

    def do_checks_create(self, args, query, body):
        run = self._template("checks/create", "201")
        run["id"] = self._next()
        run.update(
            status="queued",
            conclusion=None,
            completed_at=None,
            started_at=now(),
            pull_requests=[],
            external_id="",
            url=f"{self._api}/check-runs/{run['id']}",
            html_url=f"https://github.com/{self.repo}/runs/{run['id']}",
            output={"title": None, "summary": None, "text": None, "annotations_count": 0, "annotations_url": ""},
        )
        if body.get("status") == "completed" and not body.get("conclusion"):
            raise Refused(422, "Invalid request.\n\nMissing conclusion")
        self._apply_check(run, body)
        self.check_runs[run["id"]] = run
        return 201, run

    def do_checks_update(self, args, query, body):
        return 200, self._apply_check(self._get(self.check_runs, int(args["check_run_id"])), body)

    def do_checks_get(self, args, query, body):
        return 200, self._get(self.check_runs, int(args["check_run_id"]))

    def do_checks_list_annotations(self, args, query, body):
        notes = [
            {
                "start_column": None,
                "end_column": None,
                "title": None,
                "raw_details": None,
                "blob_href": "https://github.com/x",
                **n,
            }
            for n in self.annotations.get(int(args["check_run_id"]), [])
        ]
        return self._page(notes, query, f"/repos/{self.repo}/check-runs/{args['check_run_id']}/annotations")

    def do_checks_list_for_ref(self, args, query, body):
        runs = [
            r
            for r in self.check_runs.values()
            if r["head_sha"] == self._resolve(args["ref"]) and query.get("check_name", r["name"]) == r["name"]
        ]
        return self._page(runs, query, f"/repos/{self.repo}/commits/{args['ref']}/check-runs", "check_runs")

    def do_repos_create_commit_status(self, args, query, body):
        if len(body.get("description") or "") > 140:  # REAL
            raise invalid("Status", "description", "description is too long (maximum is 140 characters)")
        status = self._template("repos/create-commit-status", "201")
        status.update(
            {k: body.get(k) for k in ("state", "description", "target_url")},
            id=self._next(),
            context=body.get("context", "default"),
            created_at=now(),
            updated_at=now(),
        )
        self.statuses.setdefault(args["sha"], []).insert(0, status)
        return 201, status

    def do_repos_list_commit_statuses_for_ref(self, args, query, body):
        return self._page(
            self.statuses.get(self._resolve(args["ref"]), []), query, f"/repos/{self.repo}/commits/{args['ref']}/statuses"
        )

    def do_repos_get_combined_status_for_ref(self, args, query, body):
        sha, latest = self._resolve(args["ref"]), {}
        for status in reversed(self.statuses.get(sha, [])):
            latest[status["context"]] = status
        rows = [
            {
                "required": None,
                "avatar_url": None,
                **{
                    k: s[k]
                    for k in ("url", "id", "node_id", "state", "description", "target_url", "context", "created_at", "updated_at")
                },
            }
            for s in latest.values()
        ]
        bad = any(s["state"] in ("error", "failure") for s in rows)
        answer = self._template("repos/get-combined-status-for-ref")
        answer.update(
            sha=sha,
            statuses=rows,
            total_count=len(rows),
            state="failure" if bad else "success" if rows and all(s["state"] == "success" for s in rows) else "pending",
        )
        return 200, answer

    def do_repos_get_collaborator_permission_level(self, args, query, body):
        role = self.roles.get(args["username"], "read")
        return 200, {"permission": role, "role_name": role, "user": None}

    def do_repos_get_branch(self, args, query, body):
        branch = self._template("repos/get-branch")
        branch["name"], branch["commit"]["sha"] = args["branch"], self._get(self.refs, "heads/" + args["branch"])
        return 200, branch

    # ------------------------------------------------------------------ pulls
    def _simple(self, pull):
        simple = self._template("pulls/list")[0]
        simple["requested_teams"] = []
        return {**simple, **{k: pull[k] for k in simple if k in pull}}

    def do_pulls_list(self, args, query, body):
        found = [
            p
            for p in self.pulls.values()
            if query.get("state", "open") in ("all", p["state"])
            and query.get("head", p["head"]["label"]) == p["head"]["label"]
            and query.get("base", p["base"]["ref"]) == p["base"]["ref"]
        ]
        return self._page([self._simple(p) for p in found], query, f"/repos/{self.repo}/pulls")

    def do_pulls_get(self, args, query, body):
        return 200, self._get(self.pulls, int(args["pull_number"]))

    def do_repos_list_pull_requests_associated_with_commit(self, args, query, body):
        # REAL: a commit that lives only in a fork is not found here
        found = [
            p
            for p in self.pulls.values()
            if p["head"]["sha"] == args["commit_sha"] and p["head"]["repo"]["full_name"] == self.repo
        ]
        return self._page([self._simple(p) for p in found], query, f"/repos/{self.repo}/commits/{args['commit_sha']}/pulls")

    def do_pulls_list_files(self, args, query, body):
        files = self.files.get(int(args["pull_number"]), [])
        rows = [
            {
                "sha": "0" * 40,
                "filename": name,
                "status": "modified",
                "additions": 1,
                "deletions": 1,
                "changes": 2,
                "blob_url": "https://github.com/x",
                "raw_url": "https://github.com/x",
                "contents_url": f"{self._api}/contents/{name}",
            }
            for name in files
        ]
        return self._page(rows, query, f"/repos/{self.repo}/pulls/{args['pull_number']}/files")

    def do_repos_compare_commits_with_basehead(self, args, query, body):
        base, _, head = args["basehead"].partition("...")
        merge_base = self.merge_bases.get((base, head), base)
        answer = self._template("repos/compare-commits-with-basehead")
        answer["merge_base_commit"]["sha"], answer["base_commit"]["sha"] = merge_base, base
        answer.update(files=[], commits=[])
        return 200, answer

    def do_issues_add_labels(self, args, query, body):
        names = self.labels.setdefault(int(args["issue_number"]), [])
        names += [n for n in body["labels"] if n not in names]
        return 200, self._label_json(names)

    def do_issues_remove_label(self, args, query, body):
        names = self.labels.setdefault(int(args["issue_number"]), [])
        if args["name"] not in names:
            raise Refused(404, "Label does not exist")
        names.remove(args["name"])
        return 200, self._label_json(names)

    def _label_json(self, names):
        return [
            {
                "id": n,
                "node_id": "L",
                "url": f"{self._api}/labels/{name}",
                "name": name,
                "description": None,
                "color": "ededed",
                "default": False,
            }
            for n, name in enumerate(names)
        ]

    # -------------------------------------------------------------- artifacts
    def do_actions_list_workflow_runs(self, args, query, body):
        found = [
            r
            for r in self.runs.values()
            if query.get("head_sha", r["head_sha"]) == r["head_sha"]
            and query.get("branch", r["head_branch"]) == r["head_branch"]
            and query.get("event", r["event"]) == r["event"]
        ]
        return self._page(found, query, f"/repos/{self.repo}/actions/workflows/{args['workflow_id']}/runs", "workflow_runs")

    def do_actions_get_workflow_run(self, args, query, body):
        return 200, self._get(self.runs, int(args["run_id"]))

    def do_actions_list_workflow_run_artifacts(self, args, query, body):
        found = [
            a["json"]
            for a in self.artifacts.values()
            if a["json"]["workflow_run"]["id"] == int(args["run_id"])
            and query.get("name", a["json"]["name"]) == a["json"]["name"]
        ]
        return self._page(found, query, f"/repos/{self.repo}/actions/runs/{args['run_id']}/artifacts", "artifacts")

    def do_actions_list_artifacts_for_repo(self, args, query, body):
        found = [a["json"] for a in self.artifacts.values() if query.get("name", a["json"]["name"]) == a["json"]["name"]]
        return self._page(found, query, f"/repos/{self.repo}/actions/artifacts", "artifacts")

    def do_actions_get_artifact(self, args, query, body):
        return 200, self._get(self.artifacts, int(args["artifact_id"]))["json"]

    def do_actions_download_artifact(self, args, query, body):
        item = self._get(self.artifacts, int(args["artifact_id"]))
        if item["json"]["expired"]:
            raise Refused(410, "Artifact has expired")
        other = "localhost" if self.host == "127.0.0.1" else self.host  # another host name, as in real life
        return 302, None, {"Location": f"http://{other}:{self.port}/_blob/{args['artifact_id']}"}

    # --------------------------------------------------------------- git data
    def _store(self, kind, payload):
        sha = hashlib.sha1(json.dumps([kind, payload], sort_keys=True).encode()).hexdigest()
        self.objects[sha] = {"kind": kind, "payload": payload}
        return sha

    def _object(self, sha, kind):
        found = self.objects.get(sha)
        if not found or found["kind"] != kind:
            raise Refused(404, "Not Found")
        return found["payload"]

    def _resolve(self, ref):
        for name in (ref, f"heads/{ref}", f"tags/{ref}"):
            if name in self.refs:
                return self.refs[name]
        return ref

    def _commit(self, message, tree, parents, author=None):
        author = {"name": "a", "email": "a@example.com", "date": now(), **(author or {})}
        sha = self._store("commit", {"message": message, "tree": tree, "parents": parents, "author": author, "n": self._next()})
        return self._git_commit(sha)

    def _git_commit(self, sha):
        data, api = self._object(sha, "commit"), f"{self.url}/repos/{self.repo}/git"
        return {
            "sha": sha,
            "node_id": f"C_{sha[:8]}",
            "url": f"{api}/commits/{sha}",
            "author": data["author"],
            "committer": data["author"],
            "message": data["message"],
            "html_url": f"https://github.com/{self.repo}/commit/{sha}",
            "tree": {"sha": data["tree"], "url": f"{api}/trees/{data['tree']}"},
            "parents": [{"sha": p, "url": f"{api}/commits/{p}", "html_url": "https://github.com/x"} for p in data["parents"]],
            "verification": {"verified": False, "reason": "unsigned", "signature": None, "payload": None, "verified_at": None},
        }

    def _files(self, tree, base=""):
        for entry in self._object(tree, "tree"):
            name = f"{base}{entry['path']}"
            if entry["type"] == "tree":
                yield from self._files(entry["sha"], name + "/")
            else:
                yield name, entry["sha"]

    def _write_tree(self, files):
        here, below = [], {}
        for name, sha in files.items():
            head, _, tail = name.partition("/")
            if tail:
                below.setdefault(head, {})[tail] = sha
            else:
                here.append({"path": head, "mode": "100644", "type": "blob", "sha": sha})
        for name, sub in below.items():
            here.append({"path": name, "mode": "040000", "type": "tree", "sha": self._write_tree(sub)})
        return self._store("tree", sorted(here, key=lambda e: e["path"]))

    def _ref(self, name):
        return {
            "ref": f"refs/{name}",
            "node_id": "R",
            "url": f"{self._api}/git/refs/{name}",
            "object": {"type": "commit", "sha": self.refs[name], "url": f"{self._api}/git/commits/{self.refs[name]}"},
        }

    def do_git_get_ref(self, args, query, body):
        self._get(self.refs, args["ref"])
        return 200, self._ref(args["ref"])

    def do_git_list_matching_refs(self, args, query, body):
        return 200, [self._ref(n) for n in sorted(self.refs) if n.startswith(args["ref"])]

    def do_git_create_ref(self, args, query, body):
        name = body["ref"].removeprefix("refs/")
        if not body["ref"].startswith("refs/"):
            raise Refused(422, "Reference name must start with 'refs/'.")
        if name in self.refs:
            raise Refused(422, "Reference already exists")
        if self.objects.get(body["sha"], {}).get("kind") != "commit":
            raise Refused(422, "Object does not exist")
        self.refs[name] = body["sha"]
        return 201, self._ref(name)

    def do_git_update_ref(self, args, query, body):
        old, new = self._get(self.refs, args["ref"]), body["sha"]
        todo, seen = [new], set()
        while todo:
            sha = todo.pop()
            seen.add(sha)
            todo += self._object(sha, "commit")["parents"]
        if old not in seen and not body.get("force"):
            raise Refused(422, "Update is not a fast forward")  # REAL: what a lost race looks like
        self.refs[args["ref"]] = new
        return 200, self._ref(args["ref"])

    def do_git_create_blob(self, args, query, body):
        text = body["content"] if body.get("encoding") == "base64" else base64.b64encode(body["content"].encode()).decode()
        sha = self._store("blob", text)
        return 201, {"sha": sha, "url": f"{self._api}/git/blobs/{sha}"}

    def do_git_get_blob(self, args, query, body):
        text = self._object(args["file_sha"], "blob")
        return 200, {
            "sha": args["file_sha"],
            "node_id": "B",
            "size": len(base64.b64decode(text)),
            "encoding": "base64",
            "content": text,
            "url": f"{self._api}/git/blobs/{args['file_sha']}",
        }

    def _tree_json(self, sha, recursive=False):
        rows = (
            [{"path": n, "mode": "100644", "type": "blob", "sha": s} for n, s in self._files(sha)]
            if recursive
            else self._object(sha, "tree")
        )
        return {
            "sha": sha,
            "url": f"{self._api}/git/trees/{sha}",
            "truncated": False,
            "tree": [dict(r, url=f"{self._api}/git/{r['type']}s/{r['sha']}") for r in rows],
        }

    def do_git_get_tree(self, args, query, body):
        sha = self._resolve(args["tree_sha"])
        if self.objects.get(sha, {}).get("kind") == "commit":
            sha = self._object(sha, "commit")["tree"]
        return 200, self._tree_json(sha, bool(query.get("recursive")))

    def do_git_create_tree(self, args, query, body):
        files = dict(self._files(body["base_tree"])) if body.get("base_tree") else {}
        for entry in body["tree"]:
            if "content" in entry:
                files[entry["path"]] = self._store("blob", base64.b64encode(entry["content"].encode()).decode())
            elif entry.get("sha") is None:
                files.pop(entry["path"], None)
            else:
                files[entry["path"]] = entry["sha"]
        return 201, self._tree_json(self._write_tree(files))

    def do_git_create_commit(self, args, query, body):
        self._object(body["tree"], "tree")
        return 201, self._commit(body["message"], body["tree"], body.get("parents", []), body.get("author"))

    def do_git_get_commit(self, args, query, body):
        return 200, self._git_commit(args["commit_sha"])

    def do_repos_get_commit(self, args, query, body):
        commit = self._template("repos/get-commit")
        sha = self._resolve(args["ref"])
        commit.update(sha=sha, url=f"{self._api}/commits/{sha}", files=[])
        return 200, commit

    # --------------------------------------------------------------- contents
    def do_repos_get_content(self, args, query, body):
        head = self._resolve(query.get("ref", "main").removeprefix("refs/"))
        files = dict(self._files(self._object(head, "commit")["tree"]))
        sha = self._get(files, args["path"])
        text, path = self._object(sha, "blob"), args["path"]
        here, git, page = (
            f"{self._api}/contents/{path}",
            f"{self._api}/git/blobs/{sha}",
            f"https://github.com/{self.repo}/blob/x/{path}",
        )
        return 200, {
            "type": "file",
            "encoding": "base64",
            "size": len(base64.b64decode(text)),
            "name": path.split("/")[-1],
            "path": path,
            "content": text,
            "sha": sha,
            "url": here,
            "git_url": git,
            "html_url": page,
            "download_url": page,
            "_links": {"git": git, "html": page, "self": here},
        }

    def do_repos_create_or_update_file_contents(self, args, query, body):
        branch = "heads/" + body.get("branch", "main")
        head = self._get(self.refs, branch)
        files = dict(self._files(self._object(head, "commit")["tree"]))
        old, path = files.get(args["path"]), args["path"]
        if old and body.get("sha") is None:
            raise Refused(422, 'Invalid request.\n\n"sha" wasn\'t supplied.')
        if old != body.get("sha"):
            raise Refused(409, f"{path} does not match {body.get('sha')}")  # REAL: a lost race
        files[path] = self._store("blob", body["content"])
        commit = self._commit(body["message"], self._write_tree(files), [head], body.get("author"))
        self.refs[branch] = commit["sha"]
        answer = self.do_repos_get_content({"path": path}, {"ref": branch}, None)[1]
        return (200 if old else 201), {"content": answer, "commit": commit}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--visible-host", help="host name to use in the addresses of the answers")
    parser.add_argument("--port", type=int, default=8930)
    parser.add_argument("--repo", default="octo/agent")
    parser.add_argument("--token", default="ghs_fake")
    parser.add_argument("--prefix", default="", help="/api/v3 behaves like an Enterprise Server")
    parser.add_argument("--pull", type=int, default=7)
    parser.add_argument("--head-sha", default="a" * 40)
    parser.add_argument("--base-sha", default="b" * 40)
    parser.add_argument("--read-only", action="store_true", help="the token of a pull request from a fork")
    parser.add_argument("--state", help="file rewritten with the whole state after every request")
    args = parser.parse_args()
    fake = FakeGitHub(
        args.repo,
        args.token,
        host=args.host,
        port=args.port,
        prefix=args.prefix,
        state_file=args.state,
        visible_host=args.visible_host,
    )
    fake.add_pull(args.pull, args.head_sha, args.base_sha)
    if args.read_only:
        fake.permissions = dict.fromkeys(fake.permissions, "read")
    print(fake.url, flush=True)
    fake._server.serve_forever(0.05)


if __name__ == "__main__":
    main()
