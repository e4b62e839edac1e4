// Starts the browser for the measurements.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const executablePath = process.env.GATEHOUSE_TEST_CHROMIUM ?? '/usr/bin/chromium';
const args = ['--no-sandbox', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];

/** Runs `use` with a new browser profile. With `port`, other programs can also control the browser. */
export async function withBrowser(use, { port, locale = 'en-US', viewport = { width: 1280, height: 900 } } = {}) {
  const profile = mkdtempSync(join(tmpdir(), 'gatehouse-bench-profile-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath,
    viewport,
    locale,
    args: port ? [...args, `--remote-debugging-port=${port}`] : args,
  });
  context.setDefaultTimeout(30_000);
  try {
    return await use(context);
  } finally {
    await context.close();
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}
