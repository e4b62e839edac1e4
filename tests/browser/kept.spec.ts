// What the user typed and what the page shows stays: a stray click, a failed request, an answer that comes late.
import type { Page } from '@playwright/test';
import { hold } from './fixtures/hold';
import { ModelServer } from './fixtures/model';
import { refuse, useHttp } from './fixtures/refuse';
import { expect, test } from './fixtures/test';

const dialog = (page: Page) => page.getByRole('dialog');
const toasts = (page: Page) => page.getByRole('region', { name: 'Notifications' });

async function addVariable(page: Page, key: string, value: string): Promise<void> {
  await page.getByRole('button', { name: 'Add variable' }).first().click();
  await dialog(page).getByLabel('Name').fill(key);
  await dialog(page).getByLabel('Value', { exact: true }).fill(value);
}

test('a click outside closes a dialog, unless its form was edited', async ({ home: _, page }) => {
  await page.goto('/vault/environment');
  await page.getByRole('button', { name: 'Add variable' }).first().click();
  await expect(dialog(page)).toBeVisible();
  await page.mouse.click(5, 5);
  await expect(dialog(page)).toBeHidden();
  await addVariable(page, 'TOKEN', 'a secret');
  await page.mouse.click(5, 5);
  await expect(dialog(page).getByLabel('Name')).toHaveValue('TOKEN');
  await expect(dialog(page).getByLabel('Value', { exact: true })).toHaveValue('a secret');
  await page.keyboard.press('Escape');
  await expect(dialog(page)).toBeHidden();
  // The next opening was not edited.
  await page.getByRole('button', { name: 'Add variable' }).first().click();
  await expect(dialog(page).getByLabel('Name')).toHaveValue('');
  await page.mouse.click(5, 5);
  await expect(dialog(page)).toBeHidden();
});

test('a late answer does not close the dialog that was opened since, and names what was saved', async ({ home: _, page }) => {
  await useHttp(page);
  await page.goto('/vault/environment');
  await expect(page.getByText('No variables yet')).toBeVisible();
  await addVariable(page, 'FIRST', 'one');
  const release = await hold(page);
  await dialog(page).getByRole('button', { name: 'Add variable' }).click();
  await page.keyboard.press('Escape');
  await addVariable(page, 'SECOND', 'two');
  expect(await release('env.set')).toBe(1);
  await expect(toasts(page).getByText('FIRST saved')).toBeVisible();
  await expect(page.getByText('FIRST', { exact: true })).toBeVisible();
  await expect(dialog(page).getByLabel('Name')).toHaveValue('SECOND');
  await dialog(page).getByRole('button', { name: 'Add variable' }).click();
  await expect(toasts(page).getByText('SECOND saved')).toBeVisible();
  await expect(dialog(page)).toBeHidden();
});

test('a late refusal is shown beside the page, and not in the dialog that was opened since', async ({ home: _, page }) => {
  await useHttp(page);
  await page.goto('/vault/environment');
  await expect(page.getByText('No variables yet')).toBeVisible();
  await addVariable(page, 'PATH', 'one');
  const release = await hold(page);
  await dialog(page).getByRole('button', { name: 'Add variable' }).click();
  await page.keyboard.press('Escape');
  await addVariable(page, 'SECOND', 'two');
  await release('env.set');
  await expect(toasts(page).locator('.bad')).toBeVisible();
  await expect(dialog(page).getByLabel('Name')).not.toHaveAttribute('aria-invalid');
  await dialog(page).getByRole('button', { name: 'Add variable' }).click();
  await expect(toasts(page).getByText('SECOND saved')).toBeVisible();
});

test('the key of a server is stored although its dialog was closed meanwhile', async ({ home, page }) => {
  await useHttp(page);
  await page.goto('/settings/providers');
  await page.getByRole('button', { name: 'Add a server' }).first().click();
  await dialog(page).getByLabel('ID').fill('lab');
  await dialog(page).getByLabel('Base URL').fill('http://127.0.0.1:9/v1');
  await dialog(page).getByLabel(/^API key/).fill('sk-lab');
  const release = await hold(page);
  await dialog(page).getByRole('button', { name: 'Add server' }).click();
  await page.keyboard.press('Escape');
  await release('config.set');
  const hint = async () =>
    (await home.rpc<{ providers: { id: string; key_hint?: string | null }[] }>('providers.list')).providers.find(({ id }) => id === 'lab')
      ?.key_hint ?? '';
  await expect.poll(hint).not.toBe('');
});

test('leaving a channel with unsaved changes asks first', async ({ home, page }) => {
  const { id } = await home.rpc<{ id: string }>('channels.create', {
    type: 'ntfy',
    label: 'Phone',
    fields: { url: 'https://ntfy.example.org', topic: 'house' },
  });
  await page.goto(`/channels/${id}`);
  const questions: string[] = [];
  page.on('dialog', (one) => {
    questions.push(one.message());
    void one.dismiss();
  });
  const back = page.getByRole('link', { name: 'Back', exact: true });
  await page.getByLabel('Topic', { exact: true }).fill('garden');
  await back.click();
  expect(questions).toEqual(['You have unsaved changes. Leave without saving?']);
  await page.getByRole('textbox', { name: 'Access token' }).fill('tk_1');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(toasts(page).getByText('Phone')).toBeVisible();
  await expect(page.getByRole('textbox', { name: 'Access token' })).toHaveValue('');
  await back.click();
  await expect(page.getByRole('heading', { level: 1, name: 'Channels' })).toBeVisible();
  expect(questions).toHaveLength(1);
});

test('a save keeps the label of a channel that was changed elsewhere meanwhile', async ({ home, page }) => {
  const fields = { url: 'https://ntfy.example.org', topic: 'house' };
  const { id } = await home.rpc<{ id: string }>('channels.create', { type: 'ntfy', label: 'Phone', fields });
  await useHttp(page);
  await page.goto(`/channels/${id}`);
  await expect(page.getByLabel('Label')).toHaveValue('Phone');
  await home.rpc('channels.update', { id, label: 'Tablet' });
  await page.getByLabel('Topic', { exact: true }).fill('garden');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(toasts(page).getByText('Tablet saved')).toBeVisible();
  const { channels } = await home.rpc<{ channels: { id: string; label: string; fields: { topic?: string } }[] }>('channels.list');
  expect(channels.find((one) => one.id === id)).toMatchObject({ label: 'Tablet', fields: { topic: 'garden' } });
});

test('a new channel is left without a question after it was created', async ({ home: _, page }) => {
  await page.goto('/channels?new=ntfy');
  page.on('dialog', (one) => {
    throw new Error(one.message());
  });
  await page.getByLabel('Label').fill('Phone');
  await page.getByLabel('Topic', { exact: true }).fill('house');
  await page.getByRole('button', { name: 'Add channel' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Phone', exact: true })).toBeVisible();
  await page.getByRole('link', { name: 'Back', exact: true }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Channels' })).toBeVisible();
});

test('the form of a channel stays when the list of channels cannot be loaded again', async ({ home, page, complaints }) => {
  complaints.allow(/status of 503/);
  const { id } = await home.rpc<{ id: string }>('channels.create', {
    type: 'ntfy',
    label: 'Phone',
    fields: { url: 'https://ntfy.example.org', topic: 'house' },
  });
  await useHttp(page);
  await page.goto(`/channels/${id}`);
  const topic = page.getByLabel('Topic', { exact: true });
  await topic.fill('garden');
  await refuse(page, 'channels.list');
  const refused = page.waitForResponse((response) => response.status() === 503);
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await refused;
  await expect(page.getByRole('button', { name: 'Save', exact: true })).not.toHaveAttribute('aria-busy', 'true', { timeout: 30_000 });
  await expect(topic).toHaveValue('garden');
});

test('what is loaded stays when older messages or entries cannot be loaded, and the error is shown', async ({ home, page, complaints }) => {
  complaints.allow(/status of 503/);
  for (let number = 1; number <= 60; number++) await home.rpc('channels.test', { id: 'inbox', text: `Message ${number}` });
  for (let at = 0; at < 60; at++) await home.rpc('config.set', { key: 'log.level', value: at % 2 ? 'info' : 'warn' });
  await useHttp(page);
  for (const [path, method, list, more] of [
    ['/inbox', 'inbox.list', 'Messages', 'Load older'],
    ['/settings/security/audit-log', 'audit.list', 'Audit log', 'Show more'],
  ] as const) {
    await page.goto(path);
    const rows = page.getByRole('list', { name: list }).locator('> li');
    await expect(rows).toHaveCount(50);
    const mend = await refuse(page, method);
    await page.getByRole('button', { name: more }).click();
    await expect(page.getByRole('alert').filter({ hasText: 'Down.' }), path).toBeVisible({ timeout: 30_000 });
    await expect(rows).toHaveCount(50);
    await mend();
    await page.getByRole('button', { name: more }).click();
    await expect(page.getByRole('alert').filter({ hasText: 'Down.' })).toHaveCount(0);
    await expect.poll(() => rows.count()).toBeGreaterThan(50);
  }
});

test('a deleted budget can be restored, and a wrong name is reported at its field', async ({ home, page }) => {
  await home.rpc('budgets.set', { scope: 'all', period: 'day', tokens: 20 });
  await home.rpc('budgets.set', { scope: 'all', period: 'month', cost: 4.5 });
  await page.goto('/settings/usage');
  const budgets = async () => (await home.rpc<{ budgets: { period: string; cost?: number | null }[] }>('budgets.list')).budgets;
  await page.getByRole('button', { name: /^Delete budget ?: Everything per month$/ }).click();
  await expect(toasts(page).getByText('Budget deleted: Everything per month')).toBeVisible();
  await expect.poll(async () => (await budgets()).length).toBe(1);
  await toasts(page).getByRole('button', { name: 'Undo' }).click();
  await expect(page.getByRole('button', { name: /^Delete budget ?: Everything per month$/ })).toBeVisible();
  expect((await budgets()).find(({ period }) => period === 'month')?.cost).toBe(4.5);

  await page.getByLabel('Applies to').selectOption('Agent');
  await page.getByLabel('Which one').fill('nobody');
  await page.getByLabel('Limit').fill('500');
  await page.getByRole('button', { name: 'Save budget' }).click();
  await expect(page.getByLabel('Which one')).toBeFocused();
  await expect(page.getByLabel('Which one')).toHaveAttribute('aria-invalid', 'true');
  await expect(page.getByLabel('Limit')).not.toHaveAttribute('aria-invalid');
  await expect(page.getByLabel('Limit')).toHaveValue('500');
});

test('a tool that is typed and not added is saved with the agent', async ({ home, page }) => {
  await page.goto('/agents?new');
  await page.getByLabel('Name', { exact: true }).fill('Clerk');
  await page.getByRole('radio', { name: /^Only selected tools/ }).check();
  await page.getByLabel('Another tool').fill('mcp__files__*');
  await page.getByRole('button', { name: 'Add agent' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Clerk' })).toBeVisible();
  const { agents } = await home.rpc<{ agents: { name: string; tools: { allow: string[] } }[] }>('agents.list');
  expect(agents.find(({ name }) => name === 'Clerk')?.tools.allow).toContain('mcp__files__*');
});

test('the backups say that they load, and the focus stays near their button', async ({ home: _, page }) => {
  await useHttp(page);
  await page.goto('/settings/system/backups');
  const button = page.getByRole('button', { name: 'Show backups' });
  await expect(button).toBeVisible();
  const release = await hold(page);
  await button.press('Enter');
  await expect(button).toHaveAttribute('aria-busy', 'true');
  await release('backup.list');
  await expect(page.getByText('There are no backups yet.')).toBeVisible();
  await expect(button).toHaveCount(0);
  await expect(page.getByRole('heading', { level: 2, name: 'Backups' })).toBeFocused();
});

test('the field of the palette does not move when nothing matches', async ({ home: _, page }) => {
  await page.goto('/overview');
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  for (const size of [{ width: 390, height: 844 }, { width: 1440, height: 900 }]) {
    await page.setViewportSize(size);
    await page.keyboard.press('Control+k');
    const field = page.getByRole('combobox', { name: 'Page, action or name' });
    const before = await field.boundingBox();
    await field.fill('zzzqqq');
    await expect(page.getByText('Nothing matches “zzzqqq”.')).toBeVisible();
    expect(Math.abs((await field.boundingBox())!.y - before!.y)).toBeLessThan(12);
    await page.keyboard.press('Escape');
  }
});

test('the palette does not claim that nothing matches while it searches the conversations', async ({ home: _, page }) => {
  await useHttp(page);
  await page.goto('/overview');
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await page.keyboard.press('Control+k');
  const release = await hold(page);
  await page.getByRole('combobox', { name: 'Page, action or name' }).fill('zzzqqq');
  await expect(dialog(page).getByText('Loading…')).toBeVisible();
  await expect(page.getByText('Nothing matches')).toHaveCount(0);
  await release('sessions.list');
  await expect(page.getByText('Nothing matches “zzzqqq”.')).toBeVisible();
});

test.describe('with a model server', () => {
  let model: ModelServer;
  test.use({
    environment: async ({}, use) => {
      model = await ModelServer.start();
      const { SERVICE_MODELS__DEFAULT: _, ...environment } = model.environment;
      await use(environment);
      await model.close();
    },
  });

  test('the focus stays in its section when the pressed button is replaced', async ({ home, page }) => {
    for (const label of ['Narrator', 'Clerk']) await home.rpc('voice.personas.create', { label });
    await page.goto('/settings/voice/personas');
    await page.getByRole('button', { name: /Narrator$/ }).last().focus();
    await page.keyboard.press('Enter');
    await page.getByRole('menuitem', { name: 'Delete' }).press('Enter');
    await expect(page.getByRole('heading', { level: 3, name: 'Narrator' })).toHaveCount(0);
    await expect(page.getByRole('heading', { level: 2, name: 'Personas' })).toBeFocused();

    await page.goto('/settings/providers');
    await page.getByRole('button', { name: 'Make default: local/test-model' }).press('Enter');
    const models = page.getByRole('list', { name: 'Models' }).getByRole('listitem').filter({ hasText: 'test-model' });
    await expect(models.getByText('Default', { exact: true })).toBeVisible();
    await expect(page.getByRole('heading', { level: 2, name: 'Models' })).toBeFocused();
  });

  test('another grouping of the usage does not show the rows of the previous one', async ({ home, page }) => {
    for (const name of ['local/test-model', 'local/other-model']) {
      await home.rpc('config.set', { key: 'models.default', value: name });
      await home.rpc('chat.send_sync', { text: 'Hello' });
    }
    await useHttp(page);
    await page.goto('/settings/usage');
    await expect(page.getByRole('rowheader', { name: 'local/other-model' })).toBeVisible();
    const release = await hold(page);
    await page.getByLabel('Group by').selectOption('Agent');
    await expect(page.getByRole('rowheader')).toHaveCount(0);
    await release('usage.stats');
    await expect(page.getByRole('rowheader')).toHaveCount(1);
  });

  test('the usage does not claim to be empty while it loads', async ({ home, page }) => {
    await home.rpc('config.set', { key: 'models.default', value: 'local/test-model' });
    await home.rpc('chat.send_sync', { text: 'Hello' });
    await useHttp(page);
    const release = await hold(page);
    await page.goto('/settings/usage');
    await expect(page.getByRole('heading', { level: 2, name: /^Totals/ })).toBeVisible();
    await expect(page.getByText('No usage yet')).toHaveCount(0);
    await release('usage.stats');
    await expect(page.getByRole('rowheader', { name: 'local/test-model' })).toBeVisible();
  });
});

test('an old list is marked while the next one loads', async ({ home, page }) => {
  for (const text of ['One', 'Two']) await home.rpc('channels.test', { id: 'inbox', text });
  await useHttp(page);
  await page.goto('/inbox');
  const list = page.getByRole('list', { name: 'Messages' });
  await expect(list.getByRole('listitem')).toHaveCount(2);
  const release = await hold(page);
  await page.getByLabel('Unread only').check();
  await expect(list).toHaveAttribute('aria-busy', 'true');
  await release('inbox.list');
  await expect(list).not.toHaveAttribute('aria-busy');
});

test('a fallback provider that is moved by the keyboard keeps the focus', async ({ home, page }) => {
  await home.rpc('config.set', { key: 'voice.tts.fallback', value: ['openai', 'elevenlabs', 'piper'] });
  await page.goto('/settings/voice');
  const list = page.getByRole('list', { name: 'Fallback' });
  const up = list.getByRole('listitem').filter({ hasText: 'Piper' }).getByRole('button').first();
  await up.press('Enter');
  await expect(list.getByRole('listitem').nth(1)).toContainText('Piper');
  await expect(up).toBeFocused();
  await up.press('Enter');
  await expect(list.getByRole('listitem').first()).toContainText('Piper');
  // The first cannot move up.
  await expect(list.getByRole('listitem').first().getByRole('button').nth(1)).toBeFocused();
});

test('a setting that names a provider twice does not break its page', async ({ home, page }) => {
  await home.rpc('config.set', { key: 'voice.tts.fallback', value: ['openai', 'piper', 'openai'] });
  await page.goto('/settings/voice');
  await expect(page.getByRole('list', { name: 'Fallback' }).getByRole('listitem')).toHaveText([/OpenAI/, /Piper/]);
  await expect(page.getByRole('heading', { level: 1, name: 'Voice' })).toBeVisible();
});

test('the main button of a long form is in view on a phone', async ({ home: _, page }) => {
  await page.setViewportSize({ width: 390, height: 700 });
  for (const [path, opening, action] of [
    ['/settings/mcp', 'Add MCP server', 'Add and approve'],
    ['/settings/voice', /^Set up/, 'Save and test'],
  ] as const) {
    await page.goto(path);
    await page.getByRole('main').getByRole('button', { name: opening }).first().click();
    await expect(dialog(page).getByRole('button', { name: action })).toBeInViewport({ ratio: 1 });
  }
});
