// The real binary on a throw-away data directory, and a browser page that reports what it should not see.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const binary = process.env.GATEHOUSE_TEST_BINARY;
const executablePath = process.env.GATEHOUSE_TEST_CHROMIUM;

const freePort = () => new Promise((resolve) => {
  const probe = createServer().listen(0, '127.0.0.1', () => {
    const { port } = probe.address();
    probe.close(() => resolve(port));
  });
});

/** A running gateway. `output` is what it printed on standard output. */
export class Gateway {
  static async start(env = {}) {
    const gateway = new Gateway();
    gateway.env = env;
    gateway.directory = mkdtempSync(join(tmpdir(), 'gatehouse-browser-'));
    gateway.port = await freePort();
    await gateway.run();
    return gateway;
  }

  get origin() {
    return `http://localhost:${this.port}`;
  }

  get setupCode() {
    return [...this.output.matchAll(/^Setup code: (\d{6})$/gm)].at(-1)?.[1];
  }

  async run() {
    this.output = '';
    this.log = '';
    const bind = `127.0.0.1:${this.port}`;
    this.child = spawn(binary, ['serve', '--data-dir', this.directory, '--bind', bind], {
      env: { PATH: process.env.PATH, ...this.env },
    });
    this.child.stderr.on('data', (chunk) => { this.log += chunk; });
    await new Promise((resolve, reject) => {
      this.child.once('exit', (code) => reject(new Error(`the gateway ended with ${code}: ${this.log}`)));
      this.child.stdout.on('data', (chunk) => {
        this.output += chunk;
        if (this.output.includes('http://')) resolve();
      });
    });
  }

  async stop() {
    const gone = new Promise((resolve) => { this.child.once('exit', resolve); });
    this.child.kill('SIGTERM');
    return gone;
  }

  async restart() {
    await this.stop();
    await this.run();
  }

  async remove() {
    await this.stop();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** Headless Chromium that asks nobody else for anything. */
export const launch = () => chromium.launch({
  executablePath,
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});

/** A page with a virtual authenticator; `complaints` must stay empty. */
export async function openPage(browser, origin) {
  const context = await browser.newContext();
  const page = await context.newPage();
  const complaints = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    // A refused request and a socket of a stopped server are told to the console by the browser itself.
    const expected = /status of (4\d\d)|WebSocket connection|ERR_CONNECTION_REFUSED/;
    if (message.type() === 'error' && !expected.test(message.text())) complaints.push(message.text());
  });
  page.on('request', (request) => {
    const url = request.url();
    const own = url.startsWith(origin) || url.startsWith('blob:') || url.startsWith(origin.replace('http', 'ws'));
    if (!own) complaints.push(`left the origin: ${url}`);
  });
  const session = await context.newCDPSession(page);
  await session.send('WebAuthn.enable');
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: { protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
  });
  // Whether somebody touches the authenticator whenever it is asked.
  const presence = (enabled) => session.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled });
  return { page, complaints, presence };
}
