// Answers to bulk actions, rotations and dialogs that arrive after the user has closed or left what asked for them.
import type { Page } from '@playwright/test';
import { hold, holdFirst } from './fixtures/hold';
import { useHttp } from './fixtures/refuse';
import { deliver, makeWebhook, pullRequest } from './fixtures/sender';
import { expect, type Gateway } from './fixtures/test';
import { make, PUSH, send, shownSecret } from './fixtures/webhook';
import { test } from './fixtures/with-model';

const bulk = (page: Page) => page.getByRole('group', { name: 'Bulk actions' });
const question = (page: Page) => page.getByRole('dialog', { name: 'Replay deliveries' });
const toasts = (page: Page) => page.getByRole('region', { name: 'Notifications' });
const link = (page: Page, name: string) => page.getByRole('link', { name, exact: true });

/** Opens the list of three deliveries, two of them of the event type `pull_request`, with checkboxes. */
async function selectDeliveries(gateway: Gateway, page: Page): Promise<void> {
  const hook = await makeWebhook(gateway, {
    name: 'House',
    source_profile: 'codehost_a',
    deliver_only: true,
    deliver_to: 'inbox',
    prompt_template: 'Received',
  });
  for (const number of [1, 2]) await deliver(gateway, hook, pullRequest(number, `Title ${number}`), { event: 'pull_request' });
  await deliver(gateway, hook, { ref: 'refs/heads/main' }, { event: 'push' });
  await expect.poll(() => completed(gateway)).toBe(3);
  await useHttp(page);
  await page.goto('/deliveries');
  await expect(page.locator('[data-id]')).toHaveCount(3);
  await page.getByRole('button', { name: 'Select', exact: true }).click();
}

const completed = async (gateway: Gateway) =>
  (await gateway.rpc<{ deliveries: object[] }>('webhooks.deliveries', { status: 'completed' })).deliveries.length;

const countAll = (page: Page) => bulk(page).getByRole('button', { name: 'Replay all that match' }).click();

test('while all matching deliveries are counted, the selected ones cannot be replayed', async ({ home, page }) => {
  await selectDeliveries(home, page);
  await page.getByRole('checkbox', { name: /Title 1/ }).check();
  const release = await holdFirst(page, 'webhooks.deliveries.replay');
  await countAll(page);
  const replay = bulk(page).getByRole('button', { name: 'Replay', exact: true });
  await expect(replay).toHaveAttribute('aria-busy', 'true');
  await replay.click({ force: true });
  await expect(question(page)).toHaveCount(0);
  await release();
  await expect(question(page)).toContainText('3 deliveries will run again');
  await page.keyboard.press('Escape');
  await expect(replay).not.toHaveAttribute('aria-busy');
  await replay.click();
  await expect(question(page)).toContainText('1 delivery will run again');
  await question(page).getByRole('button', { name: 'Replay' }).click();
  await expect(toasts(page).getByText('1 delivery queued again')).toBeVisible();
  await expect.poll(() => completed(home)).toBe(4);
});

test('a count of deliveries is dropped if the user cancels or changes the filters', async ({ home, page }) => {
  await selectDeliveries(home, page);
  const answered = () => page.waitForResponse((one) => one.request().postData()?.includes('"dry_run":true') === true);
  let release = await holdFirst(page, 'webhooks.deliveries.replay');
  await countAll(page);
  await bulk(page).getByRole('button', { name: 'Cancel' }).click();
  let answer = answered();
  await release();
  await answer;
  await page.getByRole('button', { name: 'Select', exact: true }).click();
  await expect(question(page)).toHaveCount(0);

  await page.unroute(/\/api\/rpc$/);
  release = await holdFirst(page, 'webhooks.deliveries.replay');
  await countAll(page);
  await page.getByLabel('Event type').fill('push');
  await expect(page).toHaveURL(/event=push/);
  answer = answered();
  await release();
  await answer;
  await expect(page.locator('[data-id]')).toHaveCount(1);
  await expect(question(page)).toHaveCount(0);
  await countAll(page);
  await expect(question(page)).toContainText('1 delivery will run again');
});

test('a replay runs what was counted, although the filters have changed since', async ({ home, page }) => {
  await selectDeliveries(home, page);
  // A step in the history that changes only the filters.
  await page.evaluate(() => history.pushState(null, '', '/deliveries?event=push'));
  await page.evaluate(() => dispatchEvent(new PopStateEvent('popstate')));
  await expect(page.locator('[data-id]')).toHaveCount(1);
  await countAll(page);
  await expect(question(page)).toContainText('1 delivery will run again');
  await page.goBack();
  await expect(page.locator('[data-id]')).toHaveCount(3);
  await question(page).getByRole('button', { name: 'Replay' }).click();
  await expect(toasts(page).getByText('1 delivery queued again')).toBeVisible();
  await expect.poll(() => completed(home)).toBe(4);
});

test('a replay of which a part fails names it, keeps exactly it selected, and continues with it', async ({ home, page }) => {
  await selectDeliveries(home, page);
  const push = page.getByRole('checkbox', { name: /main/ });
  for (const box of await page.getByRole('checkbox', { name: /^Select/ }).all()) await box.check();
  await bulk(page).getByRole('button', { name: 'Replay', exact: true }).click();
  let calls = 0;
  // The middle one of the three fails.
  await page.route(/\/api\/rpc$/, (route) => {
    const body = route.request().postDataJSON() as { method?: string } | null;
    if (body?.method !== 'webhooks.delivery.replay' || ++calls !== 2) return route.fallback();
    return route.fulfill({ status: 409, json: { code: 'CONFLICT', error: 'The queue is full.' } });
  });
  await question(page).getByRole('button', { name: 'Replay' }).click();
  await expect(question(page).getByRole('alert')).toHaveText(/^Not done, and still selected: “[^”]*Title 2[^”]*”\. The queue is full\.$/);
  await expect(toasts(page).getByText('2 deliveries queued again')).toBeVisible();
  await expect(question(page)).toContainText('1 delivery will run again');
  expect(calls).toBe(3);
  await page.keyboard.press('Escape');
  await expect(page.getByText('1 selected')).toBeVisible();
  await expect(page.getByRole('checkbox', { name: /Title 2/ })).toBeChecked();
  await expect(page.getByRole('checkbox', { name: /Title 1/ }).first()).not.toBeChecked();
  await expect(push.first()).not.toBeChecked();
  await bulk(page).getByRole('button', { name: 'Replay', exact: true }).click();
  await question(page).getByRole('button', { name: 'Replay' }).click();
  await expect(question(page)).toHaveCount(0);
  await expect.poll(() => completed(home)).toBe(6);
  expect(calls).toBe(4);
  await expect(page.getByRole('button', { name: 'Select', exact: true })).toBeVisible();
});

test('what is selected while a bulk action runs stays selected', async ({ home, page }) => {
  await selectDeliveries(home, page);
  await page.getByRole('checkbox', { name: /Title 1/ }).check();
  await bulk(page).getByRole('button', { name: 'Replay', exact: true }).click();
  let release = await hold(page);
  await question(page).getByRole('button', { name: 'Replay' }).click();
  await page.keyboard.press('Escape');
  await page.getByRole('checkbox', { name: /Title 2/ }).check();
  await release('webhooks.delivery.replay');
  await expect(toasts(page).getByText('1 delivery queued again')).toBeVisible();
  await expect(page.getByText('1 selected')).toBeVisible();
  await expect(page.getByRole('checkbox', { name: /Title 2/ })).toBeChecked();

  for (const text of ['Oldest', 'Newest']) await home.rpc('chat.send_sync', { text });
  await page.goto('/chat');
  await page.getByRole('button', { name: 'Select', exact: true }).click();
  await page.getByRole('checkbox', { name: 'Select: Oldest' }).check();
  await page.getByRole('complementary').getByRole('button', { name: 'Archive', exact: true }).click();
  release = await hold(page);
  await page.getByRole('dialog', { name: 'Archive' }).getByRole('button', { name: 'Archive', exact: true }).click();
  await page.keyboard.press('Escape');
  await page.getByRole('checkbox', { name: 'Select: Newest' }).check();
  await release('sessions.update');
  await expect(toasts(page).getByText('1 conversation archived')).toBeVisible();
  await expect(page.getByText('1 selected')).toBeVisible();
  await expect(page.getByRole('checkbox', { name: 'Select: Newest' })).toBeChecked();
});

test('the end of a bulk action keeps the checkboxes that the user has opened since', async ({ home, page }) => {
  await selectDeliveries(home, page);
  await page.getByRole('checkbox', { name: /Title 1/ }).check();
  await bulk(page).getByRole('button', { name: 'Replay', exact: true }).click();
  const release = await hold(page);
  await question(page).getByRole('button', { name: 'Replay' }).click();
  await page.keyboard.press('Escape');
  await bulk(page).getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Select', exact: true }).click();
  await release('webhooks.delivery.replay');
  await expect(toasts(page).getByText('1 delivery queued again')).toBeVisible();
  await expect(page.getByText('0 selected')).toBeVisible();
});

test('a late rotation does not replace the secret of another webhook, and its own is still shown', async ({ home, page }) => {
  const first = await make(home, { name: 'Alpha', source_profile: 'github', deliver_only: true });
  await make(home, { name: 'Beta', source_profile: 'github', deliver_only: true });
  await useHttp(page);
  await page.goto('/webhooks');
  const rotate = async (name: string) => {
    await page.getByRole('button', { name: `Actions for ${name}` }).click();
    await page.getByRole('menuitem', { name: 'Rotate secret' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click();
  };
  const release = await holdFirst(page, 'webhooks.rotate_secret');
  await rotate('Alpha');
  await page.keyboard.press('Escape');
  await rotate('Beta');
  await expect(page.getByRole('heading', { name: 'Beta', level: 1 })).toBeVisible();
  const shown = await shownSecret(page).textContent();
  await release();
  const late = page.getByRole('dialog', { name: 'Secret of Alpha rotated' });
  const own = (await late.locator('code.secret').textContent()) ?? '';
  expect(own).not.toBe(shown);
  await late.getByLabel('I’ve saved it').check();
  await late.getByRole('button', { name: 'Hide the secret' }).click();
  await expect(shownSecret(page)).toHaveText(shown ?? '');
  expect(await send(first.url, own, 'push', PUSH)).toBe(202);
});

test('a late rotation to a weak secret leads to its warning', async ({ home, page }) => {
  const { id } = await make(home, { name: 'Alpha', source_profile: 'github', deliver_only: true });
  await useHttp(page);
  await page.goto(`/webhooks/${id}`);
  await page.getByRole('button', { name: 'Rotate secret' }).click();
  const dialog = page.getByRole('dialog', { name: 'Rotate the secret of Alpha' });
  await dialog.getByLabel('Use my own').check();
  await dialog.getByRole('textbox', { name: 'Your secret' }).fill('short');
  const release = await holdFirst(page, 'webhooks.rotate_secret');
  await dialog.getByRole('button', { name: 'Rotate secret' }).click();
  await page.keyboard.press('Escape');
  await link(page, 'Deliveries').click();
  await expect(page).toHaveURL(/\/deliveries$/);
  await release();
  await expect(toasts(page).getByText('Secret of Alpha saved. It will not be shown again.')).toBeVisible();
  await toasts(page).getByRole('button', { name: 'Show warning' }).click();
  await expect(page.getByText('shorter than 16 bytes', { exact: false })).toBeVisible();
  await expect(toasts(page).getByRole('button', { name: 'Show warning' })).toHaveCount(0);
});

test('Back closes a dialog with its page: a late failure is reported, and a late success leads nowhere', async ({ home, page }) => {
  await make(home, { name: 'Alpha', source_profile: 'github', deliver_only: true });
  await useHttp(page);
  await page.goto('/webhooks');
  for (const refusal of ['The database is busy.', undefined]) {
    await link(page, 'Alpha').click();
    await page.getByRole('button', { name: 'Rotate secret' }).click();
    const release = await holdFirst(page, 'webhooks.rotate_secret');
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click();
    await page.goBack();
    await expect(page.getByRole('heading', { name: 'Webhooks', level: 1 })).toBeVisible();
    await release(refusal);
    if (refusal) await expect(toasts(page).getByText(refusal)).toBeVisible();
    else await expect(page.getByRole('dialog', { name: 'Secret of Alpha rotated' })).toBeVisible();
    await expect(page).toHaveURL(/\/webhooks$/);
    await page.unroute(/\/api\/rpc$/);
  }
});

test('a private key that is read from a file after its dialog was closed is not in the next one', async ({ home: _, page }) => {
  await page.goto('/vault/ssh-keys');
  const open = page.getByRole('button', { name: 'Import a key' });
  const dialog = page.getByRole('dialog', { name: 'Import an SSH key' });
  const chosen = { name: 'deploy', mimeType: 'text/plain', buffer: Buffer.from('the private half') };
  const entry = dialog.getByLabel('Private key', { exact: true });
  await open.click();
  await dialog.locator('input[type=file]').setInputFiles(chosen);
  await expect(entry).toHaveValue('the private half');
  await page.keyboard.press('Escape');
  // A slow disk.
  await page.evaluate(() => {
    const { text } = Blob.prototype;
    const finish = new Promise((resolve) => addEventListener('finish', resolve, { once: true }));
    Blob.prototype.text = function () {
      return finish.then(() => text.call(this));
    };
  });
  await open.click();
  await dialog.locator('input[type=file]').setInputFiles(chosen);
  await page.keyboard.press('Escape');
  await open.click();
  await page.evaluate(async () => {
    dispatchEvent(new Event('finish'));
    await new Blob(['x']).text();
    await new Promise((resolve) => setTimeout(resolve));
  });
  await expect(entry).toHaveValue('');
  await expect(dialog.getByLabel('Name', { exact: true })).toHaveValue('');
});
