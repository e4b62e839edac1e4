// Settings → Agents: create, validate, edit, try and delete; the selected tools are the allowed tools.
import type { Page } from '@playwright/test';
import { violations } from './fixtures/axe';
import { ModelServer } from './fixtures/model';
import { expect, secondWindow, test } from './fixtures/test';

interface Agent {
  id: string;
  name: string;
  model?: string;
  temperature?: number;
  max_turns: number;
  system_prompt?: string;
  tools: { allow: string[]; deny: string[] };
}

const list = (page: Page) => page.getByRole('list', { name: 'Agents' });
const row = (page: Page, name: string) => list(page).getByRole('listitem').filter({ hasText: name });

test('create, validate, edit and delete an agent, with a second window that follows', async ({ home, page }) => {
  const other = await secondWindow(page);
  await other.goto('/agents');
  await page.goto('/agents');
  await expect(list(page).getByText('Default', { exact: true }).first()).toBeVisible();
  await page.getByRole('button', { name: 'Actions for Default' }).click();
  await expect(page.getByRole('menuitem', { name: 'Delete' })).toHaveCount(0);
  await page.keyboard.press('Escape');

  await page.getByRole('link', { name: 'New agent' }).click();
  await expect(page.getByRole('heading', { name: 'New agent' })).toBeFocused();
  await page.getByRole('button', { name: 'Add agent' }).click();
  await expect(page.getByLabel('Name')).toHaveAttribute('aria-invalid', 'true');
  await page.getByLabel('Name').fill('Triage');
  await page.getByLabel('Temperature').fill('9');
  await page.getByRole('button', { name: 'Add agent' }).click();
  await expect(page.getByLabel('Temperature')).toHaveAttribute('aria-invalid', 'true');
  await expect(page.getByLabel('Temperature')).toBeFocused();
  await page.getByLabel('Temperature').fill('0.5');
  await page.getByLabel('Instructions').fill('Sort issues.');
  await page.getByRole('radio', { name: /^Only selected tools/ }).check();
  for (const tool of ['channel_send', 'web_search', 'web_fetch', 'webhook', 'webhook_get_full_payload']) {
    await page.getByRole('checkbox', { name: tool, exact: true }).uncheck();
  }
  const speak = page.getByRole('checkbox', { name: 'speak', exact: true });
  if (await speak.isVisible()) await speak.uncheck();
  await page.getByLabel('Another tool').fill('mcp__files__*');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Add agent' }).click();
  await expect(page.getByRole('heading', { name: 'Triage', level: 1 })).toBeVisible();
  const made = await home.rpc<Agent>('agents.get', { id: 'triage' });
  expect(made).toMatchObject({
    name: 'Triage',
    system_prompt: 'Sort issues.',
    temperature: 0.5,
    max_turns: 12,
    tools: { allow: ['calc', 'mcp__files__*'], deny: [] },
  });
  await expect(row(other, 'Triage')).toContainText('only calc, mcp__files__*');

  // Editing keeps all other fields; cleared fields are removed.
  await page.getByLabel('Temperature').fill('');
  await page.getByRole('checkbox', { name: 'calc', exact: true }).uncheck();
  await page.getByRole('checkbox', { name: 'mcp__files__*', exact: true }).uncheck();
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('Triage saved').first()).toBeAttached();
  // The message of the first save may still be there.
  const changed = () => home.rpc<Agent>('agents.get', { id: 'triage' });
  await expect.poll(async () => (await changed()).temperature).toBeUndefined();
  // With nothing selected, nothing is allowed.
  expect((await changed()).tools).toEqual({ allow: [], deny: ['*'] });
  await page.reload();
  await expect(page.getByRole('radio', { name: /^Only selected tools/ })).toBeChecked();
  await expect(page.getByRole('checkbox', { name: 'calc', exact: true })).not.toBeChecked();

  await page.getByRole('link', { name: 'Back', exact: true }).click();
  await page.getByRole('button', { name: 'Actions for Triage' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  const confirm = page.getByRole('dialog', { name: 'Delete agent' });
  await confirm.getByLabel('Type triage to confirm').fill('triage');
  await confirm.getByRole('button', { name: 'Delete', exact: true }).click();
  await expect(row(page, 'Triage')).toHaveCount(0);
  await expect(row(other, 'Triage')).toHaveCount(0);
});

test('input survives a restart, and leaving with unsaved changes asks first', async ({ home, page, complaints }) => {
  complaints.allowDowntime();
  await page.goto('/agents?new');
  await page.getByLabel('Name').fill('Careful');
  await page.getByLabel('Instructions').fill('Do no harm.');
  let asked = '';
  page.once('dialog', (dialog) => {
    asked = dialog.message();
    void dialog.dismiss();
  });
  await page.getByRole('link', { name: 'Back', exact: true }).click();
  expect(asked).toContain('unsaved changes');
  await expect(page.getByLabel('Instructions')).toHaveValue('Do no harm.');
  await home.restart();
  await expect(page.getByText('The vault is sealed.')).toBeVisible();
  await expect(page.getByText('Live', { exact: true })).toBeVisible();
  await expect(page.getByLabel('Instructions')).toHaveValue('Do no harm.');
  await page.getByRole('button', { name: 'Add agent' }).click();
  await expect(page.getByRole('heading', { name: 'Careful', level: 1 })).toBeVisible();
});

test.describe('with a model', () => {
  test('an agent created in the web UI answers with its own model and instructions', async ({ home, page }) => {
    const model = await ModelServer.start();
    await home.rpc('config.set', { key: 'models.providers.lab.base_url', value: model.url });
    await home.rpc('providers.set_key', { id: 'lab', key: 'sk-test' });
    await page.goto('/agents?new');
    await page.getByLabel('Name').fill('Poet');
    await page.getByLabel('Instructions').fill('Answer in verse.');
    await page.getByLabel('Provider').selectOption('lab');
    await expect(page.getByText('2 models found')).toBeVisible();
    await page.locator('input[name=model]').fill('other-model');
    await page.getByRole('button', { name: 'Add agent' }).click();
    await expect(page.getByRole('link', { name: 'Try it' })).toHaveAttribute('href', '/chat?agent=poet');
    await home.rpc('chat.send_sync', { text: 'Hello', agent: 'poet' });
    expect(model.asked.at(-1)?.model).toBe('other-model');
    expect(JSON.stringify(model.asked.at(-1)?.messages[0])).toContain('Answer in verse.');
    await model.close();
  });
});

test('keyboard-only use, accessibility in both themes, and no horizontal scroll at 320 px', async ({ home, page }) => {
  await page.goto('/agents');
  await page.getByRole('link', { name: 'New agent' }).focus();
  await page.keyboard.press('Enter');
  await page.getByLabel('Name').focus();
  await page.keyboard.type('Keyed');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { name: 'Keyed', level: 1 })).toBeFocused();
  expect((await home.rpc<{ agents: Agent[] }>('agents.list')).agents.map(({ id }) => id)).toContain('keyed');
  for (const place of ['/agents', '/agents/keyed']) {
    await page.goto(place);
    await expect(page.getByRole('link', { name: 'Try it' }).first()).toBeVisible();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await violations(page), colorScheme).toEqual([]);
    }
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
    await page.setViewportSize({ width: 1280, height: 900 });
  }
});
