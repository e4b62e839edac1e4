# services.gatehouse: the unit of deploy/gatehouse.service as a NixOS module.
self:
{
  config,
  lib,
  pkgs,
  ...
}:
let
  cfg = config.services.gatehouse;
in
{
  options.services.gatehouse = {
    enable = lib.mkEnableOption "the Gatehouse gateway";
    package = lib.mkOption {
      type = lib.types.package;
      default = self.packages.${pkgs.stdenv.hostPlatform.system}.default;
      description = "The package to run.";
    };
    environment = lib.mkOption {
      type = lib.types.attrsOf lib.types.str;
      default = { };
      example = {
        SERVICE_SERVER__EXTERNAL_URL = "https://gatehouse.example.com";
      };
      description = "Settings as SERVICE_<SECTION>__<KEY>. They are readable by every user: no secrets.";
    };
    environmentFile = lib.mkOption {
      type = lib.types.nullOr lib.types.path;
      default = null;
      description = "A file with further settings, readable by root only.";
    };
  };

  config = lib.mkIf cfg.enable {
    users.users.gatehouse = {
      isSystemUser = true;
      group = "gatehouse";
      home = "/var/lib/gatehouse";
    };
    users.groups.gatehouse = { };

    systemd.packages = [
      (pkgs.runCommand "gatehouse-unit" { } ''
        install -D --mode=0644 ${./gatehouse.service} $out/lib/systemd/system/gatehouse.service
        substituteInPlace $out/lib/systemd/system/gatehouse.service \
          --replace-fail /usr/bin/gatehouse ${lib.getExe cfg.package}
      '')
    ];
    systemd.services.gatehouse = {
      wantedBy = [ "multi-user.target" ];
      environment = cfg.environment;
      serviceConfig.EnvironmentFile = lib.mkIf (cfg.environmentFile != null) cfg.environmentFile;
    };
  };
}
