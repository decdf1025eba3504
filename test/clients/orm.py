"""Runs the examples of docs/drivers.md for Django, Rails and Go, as a project would have them; see test.py."""

import os
import shutil
from pathlib import Path

from compare import work

# The migrations are made from the models, as Django's users do.
DJANGO = """
import django
from django.conf import settings
from django.core.management import call_command
settings.configure(INSTALLED_APPS=['pages'], DEFAULT_AUTO_FIELD='django.db.models.BigAutoField', DATABASES={
    'default': {'ENGINE': 'django.db.backends.postgresql', 'NAME': '%(PGDATABASE)s', 'HOST': '%(PGHOST)s', 'USER': '%(PGUSER)s'}})
django.setup()
call_command('makemigrations', 'pages', verbosity=0)
call_command('migrate', verbosity=0)
from django.db import IntegrityError
from pages.models import Page
for _ in range(2):
    Page.objects.bulk_create([Page(url='/1'), Page(url='/2')], ignore_conflicts=True)
try:
    Page.objects.create(url='/2')
except IntegrityError:
    print(Page.objects.count())
"""
RAILS = """
require 'active_record'
ActiveRecord::Base.establish_connection(adapter: 'postgresql')
ActiveRecord::Migration.verbose = false
%s
CreatePages.migrate(:up)
class Page < ActiveRecord::Base; end
2.times { Page.insert_all([{ url: '/1' }, { url: '/2' }]) }
begin
  Page.create!(url: '/2')
rescue ActiveRecord::StatementInvalid
  puts Page.count
end
"""
GOPATH = Path('/usr/share/gocode')
PGX = sorted((GOPATH / 'src/github.com/jackc/pgx').glob('v*'))
HAS_GO = shutil.which('go') and PGX and (GOPATH / 'src/github.com/lib/pq').exists()
HAS_RAILS = shutil.which('ruby') and any(Path('/usr/share/rubygems-integration').glob('*/specifications/activerecord-*'))


def run_django(code, run):
    """The status and output of a program that makes tables for these models, and adds two rows, also again."""
    folder = work / 'django' / 'pages'
    folder.mkdir(parents=True)
    (folder / '__init__.py').touch()
    (folder / 'models.py').write_text(code)
    (folder.parent / 'main.py').write_text(DJANGO % os.environ)
    return run('/usr/bin/python3', '-B', folder.parent / 'main.py')


def run_rails(code, run):
    """The same by this migration."""
    (work / 'rails.rb').write_text(RAILS % code)
    return run('ruby', work / 'rails.rb')


def run_go(code, run):
    """By Debian's packages, which have one version of pgx."""
    file = work / 'main.go'
    file.write_text(code.replace('pgx/v5', 'pgx/' + PGX[-1].name) if PGX else code)
    return run('go', 'run', file, env=dict(os.environ, GO111MODULE='off', GOPATH=str(GOPATH), GOCACHE=str(work / 'go'), GOFLAGS=''))
