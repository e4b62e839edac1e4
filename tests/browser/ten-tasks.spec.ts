// Ten things that a new user wants, each from the overview with what the pages show: at most three clicks and 20 seconds.
import type { Locator, Page } from '@playwright/test';
import { heading, isLive } from './fixtures/entering';
import { ModelServer } from './fixtures/model';
import { deliver, makeWebhook, pullRequest } from './fixtures/sender';
import { expect, test } from './fixtures/test';

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

/** Counts the clicks of each task. */
class Tasks {
  readonly done: { task: string; clicks: number; ms: number }[] = [];
  #clicks = 0;

  constructor(readonly page: Page) {}

  async do(task: string, work: () => Promise<void>): Promise<void> {
    await test.step(task, async () => {
      await this.page.goto('/overview');
      await isLive(this.page);
      this.#clicks = 0;
      const began = Date.now();
      await work();
      this.done.push({ task, clicks: this.#clicks, ms: Date.now() - began });
    });
  }

  async click(target: Locator): Promise<void> {
    this.#clicks += 1;
    await target.click();
  }
}

const nav = (page: Page, name: string | RegExp) => page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name });
const needs = (page: Page) => page.getByRole('list', { name: 'Needs you' });
const row = (page: Page, text: string | RegExp) => page.locator('[data-id]').filter({ hasText: text });

test('ten tasks take at most three clicks each', async ({ home, page }, info) => {
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
  await tasks.do('What is this page for, and does anything need me?', async () => {
    await expect(page.getByText('What arrived, what happened to it, and what needs your attention.')).toBeVisible();
    await expect(needs(page).getByText('1 delivery failed')).toBeVisible();
  });
  await tasks.do('Why did a delivery fail?', async () => {
    await tasks.click(needs(page).getByRole('link', { name: '1 delivery failed' }));
    await tasks.click(row(page, 'Mend the gate'));
    await expect(page.getByRole('region', { name: /Mend the gate/ }).getByText(/content filter|refused|declined|filter/i).first()).toBeVisible();
  });
  await tasks.do('Run what failed once more', async () => {
    await tasks.click(needs(page).getByRole('link', { name: '1 delivery failed' }));
    await tasks.click(row(page, 'Mend the gate').first());
    model.next({ text: ['It works now.'] });
    await tasks.click(page.getByRole('button', { name: 'Replay', exact: true }));
    await expect(page.getByText(/^Answered by an agent/)).toBeVisible();
  });
  await tasks.do('Why is a sender refused?', async () => {
    await tasks.click(page.getByRole('region', { name: /^Last/ }).getByRole('link', { name: /Rejected$/ }));
    await tasks.click(row(page, 'does not match'));
    await expect(page.getByRole('region', { name: /^Request to House|pull_request/ }).getByText(/does not match/).first()).toBeVisible();
  });
  await tasks.do('Receive the events of GitHub', async () => {
    await tasks.click(nav(page, 'Webhooks'));
    await tasks.click(page.getByRole('link', { name: 'New webhook' }));
    await tasks.click(page.getByRole('button', { name: /^GitHub/ }));
    await expect(page.getByRole('button', { name: 'Create webhook' })).toBeVisible();
  });
  await tasks.do('Take away a key that has leaked', async () => {
    await tasks.click(nav(page, 'Settings'));
    await tasks.click(page.getByRole('link', { name: 'Keys and devices' }));
    await tasks.click(page.getByRole('listitem').filter({ hasText: 'Old script' }).getByRole('button', { name: /^Revoke/ }));
    await expect(page.getByRole('dialog').getByRole('button', { name: 'Revoke' })).toBeVisible();
  });
  await tasks.do('Which secrets are stored, and what uses them?', async () => {
    await tasks.click(nav(page, 'Vault'));
    await tasks.click(page.getByRole('link', { name: 'All secrets' }));
    await expect(page.getByRole('list', { name: 'All secrets' })).toContainText('GITHUB_TOKEN');
  });
  await tasks.do('What did the models use?', async () => {
    await tasks.click(nav(page, 'Settings'));
    await tasks.click(page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'Usage' }));
    await expect(heading(page, 'Usage')).toBeVisible();
  });
  await tasks.do('Be told when a delivery fails', async () => {
    await tasks.click(nav(page, 'Settings'));
    await tasks.click(page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'Notifications' }));
    await tasks.click(page.getByRole('region', { name: 'A delivery failed' }).getByLabel('Inbox'));
    await expect(page.getByText('Notifications saved').first()).toBeVisible();
  });
  await tasks.do('Answer an agent that asks for permission', async () => {
    model.next({ tool: { name: 'web_fetch', arguments: { url: 'http://127.0.0.1:1/' } } });
    await home.rpc('chat.send', { text: 'Fetch it' });
    const asked = page.getByRole('region', { name: 'Allow the agent to use “web_fetch”?' });
    model.next({ text: ['Then not.'] });
    await tasks.click(asked.getByRole('button', { name: 'Deny' }));
    await expect(asked).toHaveCount(0);
  });

  expect(tasks.done).toHaveLength(10);
  for (const { task, clicks, ms } of tasks.done) {
    info.annotations.push({ type: 'task', description: `${task} ${clicks} clicks, ${ms} ms` });
    expect(clicks, task).toBeLessThanOrEqual(MOST_CLICKS);
    expect(ms, task).toBeLessThan(MOST_MS);
  }
});
