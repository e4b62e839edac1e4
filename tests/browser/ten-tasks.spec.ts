// Ten things that a new user wants, each from the overview with what the pages show: at most three clicks and 20 seconds, also
// on a phone.
import type { Page, TestInfo } from '@playwright/test';
import { heading, isLive } from './fixtures/entering';
import { ModelServer } from './fixtures/model';
import { deliver, makeWebhook, pullRequest } from './fixtures/sender';
import { expect, test } from './fixtures/test';

const DESKTOP = { viewport: { width: 1280, height: 900 } };
const PHONE = { viewport: { width: 390, height: 844 } };
const MOST_CLICKS = 3;
const MOST_MS = 20_000;

let model: ModelServer;

test.use({
  environment: async ({}, use) => {
    model = await ModelServer.start();
    await use({ ...model.environment, SERVICE_TOOLS__REQUIRE_APPROVAL: '["web_fetch"]' });
    await model.close();
  },
});

interface Input {
  clicks: number;
  keys: number;
  loads: number;
}

/** Runs the tasks. The browser itself counts the clicks and keys of each, so none can be left out. */
class Tasks {
  readonly done: ({ task: string; ms: number } & Input)[] = [];
  #input: Input = { clicks: 0, keys: 0, loads: 0 };

  constructor(readonly page: Page) {}

  async start(): Promise<void> {
    await this.page.exposeFunction('countInput', (kind: 'clicks' | 'keys') => void (this.#input[kind] += 1));
    await this.page.addInitScript(() => {
      const { countInput } = window as never as { countInput: (kind: string) => void };
      addEventListener('pointerdown', () => countInput('clicks'), true);
      addEventListener('keydown', () => countInput('keys'), true);
    });
    this.page.on('load', () => (this.#input.loads += 1));
  }

  /** `find` is measured. `finish`, which presses the last button of a form or a question, proves that it was the right place. */
  async do(task: string, find: () => Promise<void>, finish?: () => Promise<void>): Promise<void> {
    await test.step(task, async () => {
      await this.page.goto('/overview');
      await isLive(this.page);
      this.#input = { clicks: 0, keys: 0, loads: 0 };
      const began = Date.now();
      await find();
      this.done.push({ task, ms: Date.now() - began, ...this.#input });
      await finish?.();
    });
  }

  judge(info: TestInfo): void {
    expect(this.done).toHaveLength(10);
    for (const { task, clicks, keys, loads, ms } of this.done) {
      info.annotations.push({ type: 'task', description: `${task} ${clicks} clicks, ${ms} ms` });
      expect(clicks, task).toBeLessThanOrEqual(MOST_CLICKS);
      // Nothing was typed, no address was entered, and no page was loaded again.
      expect([keys, loads], task).toEqual([0, 0]);
      expect(ms, task).toBeLessThan(MOST_MS);
    }
  }
}

const nav = (page: Page, name: string | RegExp) => page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name });
const settings = (page: Page, name: string) => page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name });

/** Follows a link of the navigation; on a phone, whose bar has four, that of the overview. */
async function open(page: Page, name: string): Promise<void> {
  const link = nav(page, name).first();
  const isInBar = await link.isVisible();
  await (isInBar ? link : page.getByRole('navigation', { name: 'More pages' }).getByRole('link', { name })).click();
}

/** Opens a section of the settings. On a phone, “More” has the sections. */
async function openSettings(page: Page, section: string): Promise<void> {
  if (page.viewportSize()?.width === PHONE.viewport.width) {
    await page.getByRole('navigation', { name: 'Main' }).getByRole('button', { name: 'More' }).click();
    return nav(page, section).first().click();
  }
  await open(page, 'Settings');
  // The first section opens without a click.
  if (section !== 'Security') await settings(page, section).click();
}

const needs = (page: Page) => page.getByRole('list', { name: 'Needs attention' });
const row = (page: Page, text: string | RegExp) => page.locator('[data-id]').filter({ hasText: text });

for (const [name, { viewport }] of Object.entries({ desktop: DESKTOP, phone: PHONE })) {
  test.describe(name, () => {
    test.use({ viewport });

    test(`ten tasks take few clicks each, ${name}`, async ({ home, page }, info) => {
      test.setTimeout(180_000);
      const hook = await makeWebhook(home, { name: 'House', source_profile: 'codehost_a' });
      await home.call('POST', '/api/auth/api-keys', { label: 'Old script', scopes: ['operator.read'] });
      await home.rpc('env.set', { key: 'GITHUB_TOKEN', value: 'ghp_secret' });
      model.next({ finish: 'content_filter' });
      await deliver(home, hook, pullRequest(7), { event: 'pull_request' });
      const failed = async () => (await home.rpc<{ deliveries: unknown[] }>('webhooks.deliveries', { status: 'failed' })).deliveries.length;
      await expect.poll(failed).toBe(1);
      await deliver(home, hook, pullRequest(8), { event: 'pull_request', secret: 'not the secret' });

      const tasks = new Tasks(page);
      await tasks.start();
      await tasks.do('What is this page for, and does anything need me?', async () => {
        await expect(page.getByText('What arrived, what happened to it, and what needs your attention.')).toBeVisible();
        await expect(needs(page).getByText('1 delivery failed')).toBeVisible();
      });
      await tasks.do('Why did a delivery fail?', async () => {
        await needs(page).getByRole('link', { name: '1 delivery failed' }).click();
        await row(page, 'Mend the gate').click();
        await expect(page.getByRole('region', { name: /Mend the gate/ }).getByText(/content filter/i).first()).toBeVisible();
      });
      await tasks.do('Run what failed once more', async () => {
        await needs(page).getByRole('link', { name: '1 delivery failed' }).click();
        await row(page, 'Mend the gate').first().click();
        model.next({ text: ['It works now.'] });
        await page.getByRole('button', { name: 'Replay', exact: true }).click();
        await expect(page.getByText(/^Answered by an agent/)).toBeVisible();
      });
      await tasks.do('Why is a sender refused?', async () => {
        await page.getByRole('region', { name: /^Last/ }).getByRole('link', { name: /Rejected$/ }).click();
        await row(page, 'does not match').click();
        await expect(page.getByRole('region', { name: /^Request to House|pull_request/ }).getByText(/does not match/).first()).toBeVisible();
      });
      await tasks.do('Receive the events of GitHub', async () => {
        await open(page, 'Webhooks');
        await page.getByRole('link', { name: 'New webhook' }).click();
        await page.getByRole('button', { name: /^GitHub/ }).click();
        await expect(page.getByRole('button', { name: 'Create webhook' })).toBeVisible();
      }, async () => {
        await page.getByRole('button', { name: 'Create webhook' }).click();
        await expect(page.getByRole('heading', { name: 'The webhook is ready' })).toBeVisible();
        await page.getByLabel('I’ve saved it').check();
      });
      await tasks.do('Take away a key that has leaked', async () => {
        await page.getByRole('button', { name: 'Account and theme' }).click();
        await page.getByRole('menuitem', { name: 'Keys and devices' }).click();
        await page.getByRole('listitem').filter({ hasText: 'Old script' }).getByRole('button', { name: /^Revoke/ }).click();
        await expect(page.getByRole('dialog').getByRole('button', { name: 'Revoke' })).toBeVisible();
      }, async () => {
        await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
        await expect(page.getByRole('listitem').filter({ hasText: 'Old script' })).toHaveCount(0);
      });
      await tasks.do('Which secrets are stored, and what uses them?', async () => {
        await open(page, 'Vault');
        await page.getByRole('link', { name: 'All secrets' }).click();
        await expect(page.getByRole('list', { name: 'All secrets' })).toContainText('GITHUB_TOKEN');
      });
      await tasks.do('What did the models use?', async () => {
        await openSettings(page, 'Usage');
        await expect(heading(page, 'Usage')).toBeVisible();
      });
      await tasks.do('Be told when a delivery fails', async () => {
        await openSettings(page, 'Notifications');
        await page.getByRole('region', { name: 'A delivery failed' }).getByLabel('Inbox').click();
        await expect(page.getByText('A delivery failed: saved').first()).toBeVisible();
      });
      await tasks.do('Answer an agent that asks for permission', async () => {
        model.next({ tool: { name: 'web_fetch', arguments: { url: 'http://127.0.0.1:1/' } } });
        await home.rpc('chat.send', { text: 'Fetch it' });
        const asked = page.getByRole('region', { name: 'Allow the agent to use “web_fetch”?' });
        model.next({ text: ['Then not.'] });
        await asked.getByRole('button', { name: 'Deny' }).click();
        await expect(asked).toHaveCount(0);
      });

      tasks.judge(info);
    });

    test(`ten tasks of the first days take few clicks each, ${name}`, async ({ home, page }, info) => {
      test.setTimeout(180_000);
      const hook = await makeWebhook(home, { name: 'House', source_profile: 'codehost_a' });
      model.next({ text: ['Looks good.'] });
      await deliver(home, hook, pullRequest(7), { event: 'pull_request' });
      const completed = async () => (await home.rpc<{ deliveries: unknown[] }>('webhooks.deliveries', { status: 'completed' })).deliveries.length;
      await expect.poll(completed).toBe(1);

      const tasks = new Tasks(page);
      await tasks.start();
      await tasks.do('Ask an agent something', async () => {
        await open(page, 'Chat');
        const message = page.getByRole('textbox', { name: 'Message', exact: true });
        await message.click();
        await expect(message).toBeFocused();
      });
      await tasks.do('What did the agent answer to a delivery?', async () => {
        await open(page, 'Deliveries');
        await row(page, 'Mend the gate').click();
        await expect(page.getByRole('region', { name: /Mend the gate/ }).getByText('Looks good.').first()).toBeVisible();
      });
      await tasks.do('Where is the URL of a webhook?', async () => {
        await open(page, 'Webhooks');
        await page.getByRole('main').getByRole('link', { name: 'House' }).click();
        await expect(page.getByRole('button', { name: 'Copy URL' })).toBeVisible();
      });
      await tasks.do('Send a test to a webhook', async () => {
        await open(page, 'Webhooks');
        await page.getByRole('main').getByRole('link', { name: 'House' }).click();
        model.next({ text: ['It was a test.'] });
        await page.getByRole('button', { name: 'Send test' }).click();
        await expect.poll(completed).toBe(2);
      });
      await tasks.do('Enter the key of a model provider', async () => {
        await openSettings(page, 'Providers and models');
        await page.getByRole('button', { name: 'Add key for Anthropic' }).click();
        await expect(page.getByRole('dialog').getByLabel(/^API key/)).toBeVisible();
      });
      await tasks.do('Get messages on Telegram', async () => {
        await open(page, 'Channels');
        await page.getByRole('link', { name: 'New channel' }).click();
        await page.getByRole('main').getByRole('link', { name: /^Telegram/ }).click();
        await expect(page.getByLabel(/token/i).first()).toBeVisible();
      });
      await tasks.do('Where are backups made?', async () => {
        await openSettings(page, 'System');
        await page.getByRole('link', { name: 'Backups', exact: true }).click();
        await expect(page.getByRole('button', { name: 'Back up now' })).toBeVisible();
      });
      await tasks.do('Change the password', async () => {
        await openSettings(page, 'Security');
        await page.getByRole('button', { name: 'Change password' }).click();
        await expect(page.getByRole('dialog')).toBeVisible();
      });
      await tasks.do('Use the dark theme', async () => {
        await page.getByRole('button', { name: 'Account and theme' }).click();
        await page.getByRole('menuitemradio', { name: 'Dark' }).click();
        await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
      });
      await tasks.do('Who changed what?', async () => {
        await openSettings(page, 'Security');
        await page.getByRole('link', { name: 'Audit log', exact: true }).click();
        await expect(page.getByRole('list', { name: 'Audit log' })).toContainText('House');
      });
      tasks.judge(info);
    });
  });
}
