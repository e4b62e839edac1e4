// Runs the real binary on a temporary data directory, and fills it through its API.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const PASSWORD = 'correct horse battery staple';

const freePort = () =>
  new Promise((resolve, reject) => {
    const probe = createServer().on('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });

export class Gateway {
  directory = mkdtempSync(join(tmpdir(), 'gatehouse-bench-ui-'));
  cookie = '';
  log = '';
  #child = null;

  static async start(environment) {
    const binary = process.env.GATEHOUSE_BENCH_BINARY;
    if (!binary) throw new Error('GATEHOUSE_BENCH_BINARY names no binary');
    const gateway = new Gateway();
    gateway.port = await freePort();
    gateway.origin = `http://localhost:${gateway.port}`;
    const child = spawn(binary, ['serve', '--data-dir', gateway.directory, '--bind', `127.0.0.1:${gateway.port}`], {
      env: {
        PATH: process.env.PATH,
        HOME: gateway.directory,
        // The limit is raised, because ten thousand deliveries arrive faster than it allows by default.
        SERVICE_WEBHOOKS__GLOBAL_RATE_LIMIT_PER_MINUTE: '1000000',
        ...environment,
      },
    });
    gateway.#child = child;
    child.stderr.on('data', (chunk) => (gateway.log += chunk));
    await new Promise((resolve, reject) => {
      child.once('exit', (code) => reject(new Error(`the gateway ended with ${code}: ${gateway.log}`)));
      let output = '';
      child.stdout.on('data', (chunk) => {
        output += chunk;
        if (output.includes('http://')) resolve();
      });
    });
    return gateway;
  }

  async remove() {
    const child = this.#child;
    if (child.exitCode === null && child.signalCode === null) {
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await gone;
    }
    rmSync(this.directory, { recursive: true, force: true });
  }

  async post(path, body) {
    const response = await fetch(`${this.origin}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', cookie: this.cookie },
      body: JSON.stringify(body),
    });
    const cookie = response.headers.getSetCookie().find((one) => one.startsWith('service_session='));
    if (cookie) this.cookie = cookie.split(';')[0];
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
    return JSON.parse(text);
  }

  async rpc(method, params = {}) {
    const { result, error } = await this.post('/api/rpc', { id: 1, method, params });
    if (error) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return result;
  }

  async setUp() {
    await this.post('/api/auth/setup', { password: PASSWORD });
  }

  /** The session cookie in the format for browsers. */
  get cookies() {
    const [name, value] = this.cookie.split('=');
    return [{ name, value, url: this.origin, httpOnly: true, sameSite: 'Strict' }];
  }

  /** Adds typical data: a webhook with deliveries of several kinds, and conversations. */
  async seed({ deliveries, sessions = 0 }) {
    this.webhook ??= await this.rpc('webhooks.create', {
      name: 'Code host',
      source_profile: 'generic',
      deliver_only: true,
      deliver_to: 'log',
      prompt_template: '{title}',
      events: { deny: ['pipeline.*'] },
      rate_limit_per_minute: 1_000_000,
    });
    for (let at = 0; at < sessions; at++) await this.rpc('chat.send_sync', { text: `Question ${at}` });
    let next = 0;
    const sender = async () => {
      for (let at = next++; at < deliveries; at = next++) await this.deliver(at);
    };
    await Promise.all(Array.from({ length: 16 }, sender));
    // Waits until the gateway is idle, so that only the page is measured.
    for (let waits = 0; (await this.#waiting()) > 0; waits++) {
      if (waits > 600) throw new Error('the deliveries were not worked off');
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }

  async #waiting() {
    const { buckets } = await this.rpc('webhooks.stats', {});
    return buckets.reduce((sum, bucket) => sum + bucket.received + bucket.queued + bucket.processing, 0);
  }

  async deliver(at) {
    // Only some deliveries are filtered, because a webhook keeps at most a thousand of them.
    const event = at % 20 === 19 ? 'pipeline.done' : ['pull_request.opened', 'push', 'issues.opened'][at % 3];
    const response = await fetch(`${this.origin}/api/webhooks/ingest/${this.webhook.public_id}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-webhook-secret': this.webhook.secret,
        'x-event-type': event,
        'x-delivery-id': randomUUID(),
      },
      body: JSON.stringify({ title: `Change ${at}`, repository: 'house/gate', author: { login: 'ada' }, number: at }),
    });
    if (response.status >= 300) throw new Error(`delivery ${at}: ${response.status} ${await response.text()}`);
    await response.arrayBuffer();
  }
}
