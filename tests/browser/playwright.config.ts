// The tests run the real binary (GATEHOUSE_TEST_BINARY) in Debian's Chromium (GATEHOUSE_TEST_CHROMIUM), most of them in its
// headless shell (GATEHOUSE_TEST_CHROMIUM_SHELL): the same engine, without the parts around it that take a third of the processor time.
import { defineConfig } from '@playwright/test';

/**
 * Tests of what the browser itself does: passkeys, permissions, notifications, installation, downloads, sound. The shell refuses
 * notifications, and writing to the clipboard without a permission.
 */
const WHOLE_BROWSER =
  /\/(about|alerts|approvals|details|environment|every-page|files|first-visit|login|notifications|push|pwa|security[a-z-]*|talk|ten-tasks|voice[a-z-]*)\.spec\.ts$/;

const launchOptions = {
  executablePath: process.env.GATEHOUSE_TEST_CHROMIUM ?? '/usr/bin/chromium',
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--use-fake-device-for-media-stream',
    '--use-fake-ui-for-media-stream',
  ],
};
const shell = process.env.GATEHOUSE_TEST_CHROMIUM_SHELL ?? launchOptions.executablePath;

export default defineConfig({
  testDir: '.',
  testMatch: '*.spec.ts',
  timeout: 90_000,
  expect: { timeout: 15_000 },
  fullyParallel: true,
  workers: 2,
  // The test command lists every test that needed its second attempt.
  retries: 1,
  forbidOnly: true,
  reporter: [['list'], ['json', { outputFile: 'test-results/results.json' }]],
  use: {
    // An action that waits longer fails with what it waits for, and not with the timeout of its test.
    actionTimeout: 30_000,
    viewport: { width: 1280, height: 900 },
    locale: 'en-US',
    launchOptions,
  },
  projects: [
    { name: 'browser', testMatch: WHOLE_BROWSER },
    { name: 'shell', testIgnore: WHOLE_BROWSER, use: { launchOptions: { ...launchOptions, executablePath: shell } } },
  ],
});
