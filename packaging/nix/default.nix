# SPDX-License-Identifier: Apache-2.0
# `nix-build packaging/nix` builds this checkout: the command, its libraries and
# the files of libgpukit. The driver's NVML is opened at run time.
{
  pkgs ? import <nixpkgs> { },
}:

pkgs.stdenv.mkDerivation {
  pname = "gpukit";
  version = "0.2.0";
  src = pkgs.lib.cleanSource ../..;

  nativeBuildInputs = with pkgs; [
    cmake
    ninja
    pkg-config
  ];
  buildInputs = with pkgs; [
    curl
    gnutls
    jansson
    libmicrohttpd
    libyaml
    lz4
    ncurses
    pcre2
    zstd
  ];
  cmakeFlags = [
    "-DGPUKIT_TESTS=OFF"
    "-DGPUKIT_STATIC_DEPS=OFF"
  ];

  meta = {
    description = "Shows, records, shares and makes up NVIDIA GPUs";
    homepage = "https://example.org/gpukit";
    license = pkgs.lib.licenses.asl20;
    platforms = [
      "x86_64-linux"
      "aarch64-linux"
    ];
    mainProgram = "gpukit";
  };
}
