// Settings → Notifications: rules with channels, and the messages that they cause.
import type { Page } from '@playwright/test';
import { violations } from './fixtures/axe';
import { receiver } from './fixtures/receiver';
import { deliver, makeWebhook, pullRequest } from './fixtures/sender';
import { expect, test } from './fixtures/test';

const rule = (page: Page, name: string) => page.getByRole('region', { name });

test('a failed delivery is reported to the chosen channels, and to none after they are removed', async ({ home, page }) => {
  const there = await receiver();
  await home.rpc('channels.create', { type: 'http', id: 'ops', label: 'Ops', fields: { url: there.url } });
  const webhook = await makeWebhook(home, { name: 'House', source_profile: 'codehost_a' });
  await page.goto('/settings/notifications');
  const failed = rule(page, 'A delivery failed');
  await expect(failed.getByText('No channel: no message is sent.')).toBeVisible();
  await failed.getByLabel('Ops').check();
  await expect(page.getByText('A delivery failed: saved').first()).toBeVisible();
  await failed.getByLabel('Inbox').check();
  const stored = () => home.rpc('config.get', { keys: ['notify.delivery_failed'] });
  await expect.poll(stored).toMatchObject({ values: [{ value: expect.arrayContaining(['http:ops', 'inbox']) as unknown }] });
  await page.reload();
  await expect(failed.getByLabel('Ops')).toBeChecked();
  await expect(failed.getByLabel('Inbox')).toBeChecked();
  await expect(failed.getByLabel('Log')).not.toBeChecked();

  // No model is configured, so the agent fails.
  await deliver(home, webhook, pullRequest(7), { event: 'pull_request' });
  await expect.poll(() => there.received.length).toBe(1);
  const text = there.received[0]?.body.text ?? '';
  expect(text).toContain('A delivery of the webhook House failed.');
  expect(text).toMatch(/\nhttp:\/\/\S+\/deliveries\/del_\w+$/);
  await page.goto('/inbox');
  await expect(page.getByRole('list', { name: 'Messages' })).toContainText('A delivery of the webhook House failed.');

  await page.goto('/settings/notifications');
  await failed.getByLabel('Ops').uncheck();
  await expect.poll(stored).toMatchObject({ values: [{ key: 'notify.delivery_failed', value: ['inbox'] }] });
  await there.close();
});

test('a channel that was deleted can be removed from a rule', async ({ home, page }) => {
  await home.rpc('channels.create', { type: 'ntfy', id: 'phone', label: 'Phone', fields: { topic: 'home' } });
  await page.goto('/settings/notifications');
  const budget = rule(page, 'A budget is nearly used up');
  await budget.getByLabel('Phone').check();
  await expect(page.getByText('A budget is nearly used up: saved').first()).toBeVisible();
  await home.rpc('channels.delete', { id: 'phone' });
  await page.reload();
  await expect(budget.getByText('This channel no longer exists.')).toBeVisible();
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    expect(await violations(page)).toEqual([]);
  }
  // The entry disappears with the change.
  await budget.getByLabel('ntfy:phone').click();
  await expect(budget.getByText('This channel no longer exists.')).toHaveCount(0);
});

test.describe('a rule from the environment', () => {
  test.use({ environment: { SERVICE_NOTIFY__BUDGET_WARNING: '["inbox"]' } });

  test('is shown and cannot be changed', async ({ home, page }) => {
    void home;
    await page.goto('/settings/notifications');
    const budget = rule(page, 'A budget is nearly used up');
    await expect(budget.getByLabel('Inbox')).toBeChecked();
    await expect(budget.getByLabel('Inbox')).toBeDisabled();
    await expect(budget.getByText('Set by an environment variable')).toBeVisible();
  });
});
