"""S3 servers on the loopback, and a proxy that lets requests fail. Part of scripts/check/replication."""
import http.client
import http.server
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.request

ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.startswith("AWS_")}


def fail(text):
    raise SystemExit(f"replication: {text}")


def expect(condition, text):
    if not condition:
        fail(text)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def environment(folder, *packages):
    """A virtual environment with packages."""
    if not (folder / "bin" / "pip").exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([folder / "bin" / "pip", "install", "-q", *packages], check=True)
    return folder / "bin"


class Server:
    """Processes that end with this program."""

    running = []

    def __init__(self, log):
        self.log, self.processes = log, []
        Server.running.append(self)

    def start(self, *command, port):
        with open(self.log, "ab") as output:
            self.processes.append(subprocess.Popen(
                [str(word) for word in command], stdout=output, stderr=output, cwd=self.log.parent))
        for _ in range(400):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    return
            expect(self.processes[-1].poll() is None, f"{command[0]} ended: see {self.log}")
            time.sleep(0.1)
        fail(f"nothing listens on {port}: see {self.log}")

    def stop(self):
        for process in self.processes:
            process.terminate()
            process.wait()
        self.processes = []


class Store:
    """An S3 server with the keys to it."""

    def __init__(self, endpoint, key="trial", secret="trial"):
        self.endpoint = endpoint
        self.variables = dict(
            ENVIRONMENT, AWS_ACCESS_KEY_ID=key, AWS_SECRET_ACCESS_KEY=secret, AWS_REGION="us-east-1",
            AWS_ENDPOINT_URL_S3=endpoint)


def moto(folder, tls=False):
    programs, port = environment(folder / "moto", "moto[server]>=5"), free_port()
    server, options = Server(folder / "moto.log"), []
    if tls:
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", folder / "tls.key", "-out",
             folder / "tls.pem", "-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"],
            check=True, capture_output=True)
        options = ["-s", "-c", folder / "tls.pem", "-k", folder / "tls.key"]
    server.start(programs / "moto_server", "-H", "127.0.0.1", "-p", port, *options, port=port)
    store = Store(f"{'https' if tls else 'http'}://127.0.0.1:{port}")
    if not tls:
        urllib.request.urlopen(urllib.request.Request(f"{store.endpoint}/bucket", method="PUT"))
    return store


SWIFT_LAUNCHER = """
import sys
import swift.common.utils
swift.common.utils.SWIFT_CONF_FILE = sys.argv[2]
from swift.common.storage_policy import reload_storage_policies
reload_storage_policies()
from swift.common.wsgi import run_wsgi
sys.exit(run_wsgi(sys.argv[3], sys.argv[1]))
"""


def swift(folder):
    """OpenStack Swift with its s3api, which checks signatures and has no conditional writes."""
    programs, home = environment(folder / "swift-environment", "swift", "setuptools<81"), folder / "swift"
    shutil.rmtree(home, ignore_errors=True)
    (home / "dev" / "d1").mkdir(parents=True)
    (home / "swift.conf").write_text(
        "[swift-hash]\nswift_hash_path_suffix = trial\n[storage-policy:0]\nname = p\ndefault = yes\n")
    (home / "launch.py").write_text(SWIFT_LAUNCHER)
    server, base = Server(home / "log"), "[DEFAULT]\nbind_ip = 127.0.0.1\nuser = {user}\nswift_dir = {home}\n" \
        "workers = 0\nlog_address = {home}/nowhere\n"
    base = base.format(user=subprocess.check_output(["id", "-un"], text=True).strip(), home=home)

    def start(kind, port):
        server.start(
            programs / "python", home / "launch.py", f"{kind}-server", home / "swift.conf", home / f"{kind}.conf",
            port=port)

    for kind in ["account", "container", "object"]:
        port, builder = free_port(), home / f"{kind}.builder"
        for words in [["create", "6", "1", "1"], ["add", f"r1z1-127.0.0.1:{port}/d1", "1"], ["rebalance"]]:
            subprocess.run([programs / "swift-ring-builder", builder, *words], check=True, capture_output=True)
        (home / f"{kind}.conf").write_text(
            f"{base}bind_port = {port}\ndevices = {home}/dev\nmount_check = false\n[pipeline:main]\n"
            f"pipeline = {kind}-server\n[app:{kind}-server]\nuse = egg:swift#{kind}\nrecon_cache_path = {home}\n")
        start(kind, port)
    port = free_port()
    names = ["catch_errors", "listing_formats", "copy"]
    filters = "".join(f"[filter:{name}]\nuse = egg:swift#{name}\n" for name in names)
    (home / "proxy.conf").write_text(
        f"{base}bind_port = {port}\n[pipeline:main]\n"
        "pipeline = catch_errors listing_formats s3api tempauth copy proxy-server\n"
        "[app:proxy-server]\nuse = egg:swift#proxy\nallow_account_management = true\naccount_autocreate = true\n"
        f"[filter:s3api]\nuse = egg:swift#s3api\nlocation = us-east-1\n[filter:tempauth]\nuse = egg:swift#tempauth\n"
        f"user_test_tester = testing .admin\n{filters}")
    start("proxy", port)
    store = Store(f"http://127.0.0.1:{port}", "test:tester", "testing")
    # Only signed requests can make a bucket there: boto3 of moto's environment makes it.
    code = ("import boto3, sys; boto3.client('s3', endpoint_url=sys.argv[1], region_name='us-east-1')"
            ".create_bucket(Bucket='bucket')")
    subprocess.run(
        [environment(folder / "moto", "moto[server]>=5") / "python", "-c", code, store.endpoint], check=True,
        env=store.variables)
    return store


class Proxy:
    """A proxy before a store, which lets one request fail, or all while it is down, and keeps the times of PUTs."""

    def __init__(self, store, kind=None, number=0):
        proxy, self.count, self.hits, self.lock = self, 0, 0, threading.Lock()
        self.is_down, self.puts = False, []
        target = store.endpoint.removeprefix("http://")

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def forward(self, body):
                connection = http.client.HTTPConnection(target, timeout=60)
                connection.request(self.command, self.path, body, dict(self.headers))
                answer = connection.getresponse()
                return answer.status, answer.getheaders(), answer.read()

            def handle_request(self):
                begun = time.time()
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                if proxy.is_down:
                    self.close_connection = True
                    return self.connection.shutdown(socket.SHUT_RDWR)
                with proxy.lock:
                    proxy.count += 1
                    isHit = proxy.count == number or kind == "down" and number <= proxy.count < number + 4
                    proxy.hits += isHit
                if isHit and kind == "refused":
                    return self.answer(503, [], b"<Error><Code>SlowDown</Code></Error>")
                if isHit and kind == "down":
                    self.close_connection = True
                    return self.connection.shutdown(socket.SHUT_RDWR)
                if isHit and kind == "late":
                    time.sleep(1)
                if isHit and kind == "twice":
                    self.forward(body)
                status, headers, content = self.forward(body)
                if isHit and kind == "lost":
                    self.close_connection = True
                    return self.connection.shutdown(socket.SHUT_RDWR)
                if isHit and kind == "corrupt" and status == 200 and len(content) > 100:
                    content = content[:50] + bytes([content[50] ^ 1]) + content[51:]
                self.answer(status, headers, content, isHit and kind == "cut")
                if self.command == "PUT":
                    proxy.puts.append((begun, time.time(), self.path))

            def answer(self, status, headers, content, isCut=False):
                self.send_response(status)
                for name, value in headers:
                    if name.lower() not in ("content-length", "transfer-encoding", "connection", "date", "server"):
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content[:len(content) // 2] if isCut else content)
                if isCut:
                    self.close_connection = True

            do_GET = do_PUT = do_DELETE = do_POST = do_HEAD = handle_request

        class ProxyServer(http.server.ThreadingHTTPServer):
            def handle_error(self, *_):
                """A client that has gone away."""

        self.server = ProxyServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.endpoint = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def end(self):
        self.server.shutdown()
        self.server.server_close()
