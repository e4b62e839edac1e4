// Parts of the page that load when the user asks for them, while the gateway is down: the page says so there, and shows them when
// the connection is back.
import type { Page } from '@playwright/test';
import { cuttable } from './fixtures/downtime';
import { isLive } from './fixtures/entering';
import { dialog, section, notification } from './fixtures/security';
import { deliver, makeWebhook } from './fixtures/sender';
import { expect, type Gateway } from './fixtures/test';
import { test } from './fixtures/with-model';

const SILENT = 'The gateway is not responding.';
test.use({
  environment: async ({ model }, use) => use({ ...model.environment, SERVICE_TOOLS__REQUIRE_APPROVAL: '["web_fetch"]' }),
});

const writing = (page: Page) => page.getByRole('textbox', { name: 'Message' });

/** Opens a page and stops the gateway. */
async function cutOff(home: Gateway, page: Page, path: string): Promise<void> {
  await page.goto(path);
  await isLive(page);
  await page.waitForLoadState('networkidle');
  await stopped(home, page);
}

async function stopped(home: Gateway, page: Page): Promise<void> {
  await home.stop();
  await expect(page.getByText('Reconnecting…')).toBeVisible();
}

test.beforeEach(({ complaints }) => complaints.allowDowntime());

test('the search opens with what happened, and becomes the search when the gateway is back', async ({ home, page }) => {
  await cutOff(home, page, '/overview');
  await page.keyboard.press('Control+k');
  const notice = page.getByRole('dialog', { name: 'Search' });
  await expect(notice.getByRole('alert')).toContainText(SILENT);
  // It can be closed and opened again, and a second attempt fails as the first did.
  await page.keyboard.press('Escape');
  await expect(notice).toHaveCount(0);
  await page.getByRole('button', { name: 'Search' }).click();
  await notice.getByRole('button', { name: 'Try again' }).click();
  await expect(notice.getByRole('alert')).toContainText(SILENT);
  await home.run();
  await expect(page.getByRole('combobox')).toBeFocused();
  await expect(page.getByRole('dialog').getByRole('alert')).toHaveCount(0);
});

test('a closed dialog stays closed when the gateway is back', async ({ home, page }) => {
  await cutOff(home, page, '/overview');
  await page.keyboard.press('?');
  const list = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  await expect(list.getByRole('alert')).toContainText(SILENT);
  await list.getByRole('button', { name: 'Close' }).click();
  await home.run();
  await isLive(page);
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await page.keyboard.press('?');
  await expect(list.getByText('Next row')).toBeVisible();
});

test('the prompts open with what happened, and become the prompts when the gateway is back', async ({ home, page }) => {
  await cutOff(home, page, '/chat');
  await writing(page).pressSequentially('/prompts');
  await page.keyboard.press('Enter');
  const prompts = page.getByRole('dialog', { name: 'Prompts' });
  await expect(prompts.getByRole('alert')).toContainText(SILENT);
  await home.run();
  await expect(prompts.getByRole('button', { name: 'Save prompt' })).toBeVisible();
});

test('a tool call shows its arguments while the gateway is down, and who allowed it when it is back', async ({ home, page, model }) => {
  await page.goto('/chat');
  model.next({ tool: { name: 'web_fetch', arguments: { url: 'http://127.0.0.1:1/' } } });
  model.next({ text: ['Not fetched.'] });
  await writing(page).fill('Fetch it');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Allow', exact: true }).click();
  await expect(page.getByRole('region', { name: 'Messages' }).getByText('Not fetched.')).toBeVisible();
  await page.reload();
  const card = page.getByRole('group').filter({ hasText: 'web_fetch' });
  await expect(card).toBeVisible();
  await isLive(page);
  await page.waitForLoadState('networkidle');
  await stopped(home, page);
  await card.getByText('web_fetch').click();
  await expect(card.getByRole('group', { name: 'Input' })).toContainText('http://127.0.0.1:1/');
  await home.run();
  await expect(card.getByText(/^Allowed by You/)).toBeVisible();
});

test('a token is shown without its QR code, which follows when the gateway is back', async ({ home: _, page, complaints }) => {
  complaints.allow(/ERR_FAILED/);
  const line = await cuttable(page);
  line.cut();
  const asked = /\/favicon\.ico$/;
  await page.route(asked, (route) => route.abort());
  await page.goto('/settings/security/access');
  await expect(page.getByText('Reconnecting…')).toBeVisible();
  await section(page, 'Paired devices').getByRole('button', { name: 'Pair a device' }).click();
  await dialog(page).getByLabel('Label').fill('kitchen tablet');
  await dialog(page).getByRole('button', { name: 'Pair', exact: true }).click();
  const code = dialog(page).getByRole('img', { name: 'QR code of the URL and the token' });
  await expect(dialog(page).getByRole('alert')).toContainText(SILENT);
  await expect(dialog(page).locator('code').first()).not.toBeEmpty();
  await expect(code).toHaveCount(0);
  await page.unroute(asked);
  line.mend();
  await expect(code).toBeVisible();
  await expect(dialog(page).getByRole('alert')).toHaveCount(0);
});

test('a replay with changes says that the gateway is down, and opens when it is back', async ({ home, page }) => {
  const webhook = await makeWebhook(home, { name: 'House', deliver_only: true, deliver_to: 'inbox', prompt_template: 'It rang' });
  const { body } = await deliver(home, webhook, {}, { event: 'ring', id: 'd-1' });
  await cutOff(home, page, `/deliveries/${body.delivery_id}`);
  const edit = page.getByRole('button', { name: 'Run with changes' });
  await edit.click();
  await expect(notification(page, SILENT)).toBeVisible();
  await home.run();
  await isLive(page);
  await edit.click();
  await expect(page.getByRole('dialog', { name: 'Run with changes' })).toBeVisible();
});

test('the search loads although the network blocks the socket', async ({ home: _, page }) => {
  (await cuttable(page)).cut();
  await page.goto('/overview');
  await expect(page.getByText('Reconnecting…')).toBeVisible();
  await page.keyboard.press('Control+k');
  await expect(page.getByRole('combobox')).toBeFocused();
});

test('the question for the vault password opens with what happened, and asks when the gateway is back', async ({ home, page }) => {
  await home.call('POST', '/api/auth/vault/seal');
  await cutOff(home, page, '/overview');
  await page.getByRole('button', { name: 'Unlock', exact: true }).first().click();
  const unlock = page.getByRole('dialog', { name: 'Unlock the vault' });
  await expect(unlock.getByRole('alert')).toContainText(SILENT);
  await home.run();
  await expect(unlock.getByRole('textbox', { name: 'Password', exact: true })).toBeFocused();
});

test('a dialog of a conversation opens with what happened, and becomes the dialog when the gateway is back', async ({ home, page }) => {
  const { session } = await home.rpc<{ session: string }>('chat.send_sync', { text: 'About bread' });
  await cutOff(home, page, `/chat/${session}`);
  await page.getByRole('button', { name: 'Rename, share or delete' }).click();
  await page.getByRole('menuitem', { name: 'Rename' }).click();
  const note = page.getByRole('dialog', { name: 'Actions for About bread' });
  await expect(note.getByRole('alert')).toContainText(SILENT);
  await home.run();
  const name = page.getByRole('dialog', { name: 'Rename conversation' }).getByLabel('Name', { exact: true });
  await expect(name).toBeFocused();
  await expect(name).toHaveValue('About bread');
  await expect(note).toHaveCount(0);
});
